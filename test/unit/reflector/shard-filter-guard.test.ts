/** Tests of what lists and watches show about a server that was given a shard selector. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KeySpans, scanKey } from '../../../src/kube/json/key-spans.ts';
import { partitionRanges } from '../../../src/kube/shard-selector.ts';
import { ShardFilterGuard } from '../../../src/reflector/shard-filter-guard.ts';
import { ActivityCounter } from '../../../src/shared/activity.ts';
import type { ShardFilterSupport } from '../../../src/shared/activity.ts';

/** FNV-1a of `a` is in the upper half of all hashes, that of this text in the lower one. */
const OWN = 'a';
const FOREIGN = 'pod-1';

type Input = 'list' | 'own' | 'foreign' | 'echo' | 'page' | 'end';

class Judged {
  readonly counts: Float64Array = new Float64Array(Object.keys(ActivityCounter).length);
  readonly changes: ShardFilterSupport[] = [];
  readonly #gate = new ShardFilterGuard(partitionRanges([1], 2), this.counts, (filtering) =>
    this.changes.push(filtering),
  );

  after(...inputs: readonly Input[]): readonly ShardFilterSupport[] {
    for (const input of inputs) this.#take(input);
    return this.changes;
  }

  #take(input: Input): void {
    if (input === 'list') this.#gate.beginList();
    else if (input === 'end') this.#gate.endList();
    else if (input === 'own') assert.ok(this.#admits(OWN));
    else if (input === 'foreign') assert.ok(!this.#admits(FOREIGN));
    else this.#gate.page(input === 'echo');
  }

  #admits(uid: string): boolean {
    const bytes = Buffer.from(JSON.stringify({ metadata: { name: 'x', namespace: 'ns', uid } }));
    const spans = new KeySpans();
    assert.ok(scanKey(bytes, 0, bytes.length, spans));
    return this.#gate.admits(bytes, spans);
  }
}

describe('a server that was given a shard selector', () => {
  const cases: readonly (readonly [
    title: string,
    inputs: readonly Input[],
    changes: readonly ShardFilterSupport[],
  ])[] = [
    ['filters when its list says so', ['list', 'own', 'echo', 'end'], ['filtered']],
    ['filters when its empty list says so', ['list', 'echo', 'end'], ['filtered']],
    ['filters when one page of its list says so', ['list', 'echo', 'own', 'page', 'end'], ['filtered']],
    [
      'filters without echo when its list has objects of the shard only',
      ['list', 'own', 'own', 'page', 'end'],
      ['filtered-without-echo'],
    ],
    ['shows nothing by a list without objects', ['list', 'page', 'end'], []],
    ['shows nothing by a list that does not end', ['list', 'own'], []],
    ['ignores it when it sends an object of another shard', ['list', 'own', 'foreign'], ['ignored']],
    ['ignores it even if its list says otherwise', ['list', 'echo', 'foreign', 'end'], ['ignored']],
    [
      'ignores it when such an object comes after the list',
      ['list', 'own', 'end', 'foreign', 'foreign'],
      ['filtered-without-echo', 'ignored'],
    ],
    [
      'filters again when a later list shows it',
      ['list', 'foreign', 'end', 'list', 'own', 'echo', 'end', 'list', 'own', 'echo', 'end'],
      ['ignored', 'filtered'],
    ],
  ];
  for (const [title, inputs, changes] of cases) {
    test(title, () => assert.deepEqual(new Judged().after(...inputs), changes));
  }

  test('has its objects of other shards counted', () => {
    const judged = new Judged();
    judged.after('list', 'foreign', 'own', 'foreign');
    assert.equal(judged.counts[ActivityCounter.OtherShard], 2);
  });
});
