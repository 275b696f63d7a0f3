/**
 * Replays a history through a queue and client-go's processing, and records pops and handler calls. The queue's
 * known objects are the store that the processing fills.
 */
import { deletionHandlingMetaNamespaceKeyFunc } from '../../../../src/kube/keys.ts';
import { isTombstone, tombstone } from '../../../../src/kube/tombstone.ts';
import { DeltaFIFO } from '../../../../src/client-go/queue/delta-fifo.ts';
import type { Delta, Deltas } from '../../../../src/client-go/queue/delta.ts';
import type { KnownObjects } from '../../../../src/client-go/queue/known-objects.ts';
import type { Queue } from '../../../../src/client-go/queue/queue.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import { deltasText, textOf } from './notation.ts';
import type { HistoryStep, TestObject } from './notation.ts';
import { perform } from './scene.ts';

export type Mode = 'deltaFifo' | 'realFifo' | 'atomic';

export interface Replayed {
  /** One text for each pop. */
  readonly popped: readonly string[];
  readonly calls: readonly string[];
}

export type AnyQueue = Queue<TestObject, Deltas<TestObject>> & { readonly size: number };

class TestStore {
  readonly calls: string[] = [];
  #objects: Map<string, TestObject> = new Map();

  listKeys(): string[] {
    return [...this.#objects.keys()];
  }

  getByKey(key: string): TestObject | undefined {
    return this.#objects.get(key);
  }

  /** Processes as client-go's processDeltas: the store decides between addition and update, never the delta. */
  process(delta: Delta<TestObject>, isInInitialList: boolean): void {
    switch (delta.type) {
      case 'Bookmark':
        return;
      case 'SyncAll':
        for (const object of this.#objects.values()) this.calls.push(updateText(object, object));
        return;
      case 'ReplacedAll':
        return this.#replaceAll(delta.objects, isInInitialList);
      case 'Deleted': {
        const { object } = delta;
        this.#objects.delete(isTombstone(object) ? object.key : object.metadata.name);
        this.calls.push(`delete ${textOf(object)}`);
        return;
      }
      default:
        this.#upsert(delta.object, this.getByKey(delta.object.metadata.name), isInInitialList);
        this.#objects.set(delta.object.metadata.name, delta.object);
    }
  }

  /** Processes as client-go's processReplacedAllInfo: deletions first, each item against the state before the list. */
  #replaceAll(items: readonly TestObject[], isInInitialList: boolean): void {
    const before = this.#objects;
    this.#objects = new Map(items.map((item) => [item.metadata.name, item]));
    for (const [key, object] of before) {
      if (!this.#objects.has(key)) this.calls.push(`delete ${textOf(tombstone(key, object))}`);
    }
    for (const item of items) this.#upsert(item, before.get(item.metadata.name), isInInitialList);
  }

  #upsert(object: TestObject, old: TestObject | undefined, isInInitialList: boolean): void {
    if (old !== undefined) this.calls.push(updateText(old, object));
    else this.calls.push(`add ${textOf(object)}${isInInitialList ? ' initial' : ''}`);
  }
}

function updateText(old: TestObject, object: TestObject): string {
  return `update ${textOf(old)} ${textOf(object)}`;
}

/** Returns a queue over these known objects, which an atomic one does not use. */
export function queueOf(mode: Mode, knownObjects: KnownObjects<TestObject>): AnyQueue {
  const keyFunction = deletionHandlingMetaNamespaceKeyFunc;
  if (mode === 'deltaFifo') return new DeltaFIFO({ keyFunction, knownObjects, emitDeltaTypeReplaced: true });
  if (mode === 'realFifo') return new RealFIFO<TestObject>({ keyFunction, knownObjects });
  return new RealFIFO<TestObject>({ keyFunction, atomicEvents: true, emitDeltaTypeBookmark: true });
}

/** Replays the steps, then processes the queued rest. */
export async function replay(mode: Mode, steps: readonly HistoryStep[]): Promise<Replayed> {
  const store = new TestStore();
  const queue = queueOf(mode, store);
  const popped: string[] = [];
  for (const step of [...steps, ['process'] as const]) {
    if (step[0] !== 'process') {
      perform(queue, [step]);
      continue;
    }
    while (queue.size > 0) {
      const deltas = await queue.pop((deltas, isInInitialList) => {
        for (const delta of deltas) store.process(delta, isInInitialList);
      });
      popped.push(deltasText(deltas));
    }
  }
  return { popped, calls: store.calls };
}
