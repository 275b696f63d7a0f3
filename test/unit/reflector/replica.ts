/** The sum of the records: the state that shards and main thread would hold, per informer. */
import assert from 'node:assert/strict';
import { compareU32 } from '../../../src/shared/ring/word.ts';
import type { Seen } from './twin.ts';

interface Informer {
  objects: Map<string, string>;
  shadow: Map<string, string> | undefined;
  epoch: number;
}

export class Replica {
  readonly #informers = new Map<number, Informer>();
  #last: number | undefined;

  apply(record: Seen): void {
    // Sequences have no holes: a hole is a lost record, or a sequence used for none.
    if (this.#last !== undefined) assert.equal(record.sequence, (this.#last + 1) >>> 0);
    this.#last = record.sequence;
    const informer = this.#informer(record.informer);
    const target = informer.shadow ?? informer.objects;
    const key = `${record.namespace}/${record.name}`;
    switch (record.kind) {
      case 'Added':
      case 'Modified':
      case 'Replaced':
        assert.ok(record.kind !== 'Replaced' || informer.shadow, 'items come between Begin and End');
        target.set(key, record.json);
        break;
      case 'Deleted':
        target.delete(key);
        break;
      case 'ReplaceBegin':
        assert.ok(compareU32(record.epoch, informer.epoch) > 0, 'epochs grow');
        assert.equal(informer.shadow, undefined, 'Begin follows End or Abort');
        informer.epoch = record.epoch;
        informer.shadow = new Map();
        break;
      case 'ReplaceEnd':
        assert.ok(informer.shadow && record.epoch === informer.epoch, 'End belongs to a Begin');
        informer.objects = informer.shadow;
        informer.shadow = undefined;
        break;
      case 'ReplaceAbort':
        assert.ok(informer.shadow && record.epoch === informer.epoch, 'Abort belongs to a Begin');
        informer.shadow = undefined;
        break;
      case 'Bookmark':
        assert.equal(informer.shadow, undefined, 'no bookmarks inside of an epoch');
        break;
      default:
        assert.equal(record.kind, 'Detach');
        this.#informers.delete(record.informer);
    }
  }

  /** Returns `name@resourceVersion` of every object, sorted. */
  objects(informer = 1): string[] {
    const objects = [...this.#informer(informer).objects.values()];
    return objects.map((json) => describeObject(json)).sort();
  }

  #informer(number: number): Informer {
    let informer = this.#informers.get(number);
    if (!informer) {
      informer = { objects: new Map(), shadow: undefined, epoch: 0 };
      this.#informers.set(number, informer);
    }
    return informer;
  }
}

function describeObject(json: string): string {
  const { kind, metadata } = JSON.parse(json) as {
    kind?: string;
    metadata: { name: string; resourceVersion: string };
  };
  assert.equal(kind, 'Pod', 'every object says what it is');
  return `${metadata.name}@${metadata.resourceVersion}`;
}
