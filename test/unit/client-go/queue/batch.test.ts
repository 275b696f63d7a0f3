/** Tests of a RealFIFO's `popBatch`. A row of `after` is one call. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import { deltasText, type TestObject } from './notation.ts';
import { perform, type Step } from './scene.ts';

interface Case {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly after: readonly string[];
}

const ADDED = ['a', 'b', 'c', 'd', 'e'].map((name): Step => ['add', `${name}@1`]);

const CASES: readonly Case[] = [
  { title: 'a single change is processed by itself', steps: [['add', 'a@1']], after: ['single: Added a@1'] },
  {
    title: 'changes of different objects come together, up to the batch size',
    steps: ADDED,
    after: ['batch: Added a@1, Added b@1, Added c@1, Added d@1', 'single: Added e@1'],
  },
  {
    title: 'a batch ends before a second change of one object',
    steps: [
      ['add', 'a@1'],
      ['add', 'b@1'],
      ['delete', 'a@2'],
      ['add', 'a@3'],
    ],
    after: ['batch: Added a@1, Added b@1', 'single: Deleted a@2', 'single: Added a@3'],
  },
  {
    title: 'a batch ends before a change of the whole collection, which comes alone',
    steps: [
      ['add', 'a@1'],
      ['add', 'b@1'],
      ['replace', '5', 'a@1'],
      ['resync'],
      ['bookmark', '6'],
      ['add', 'c@7'],
      ['add', 'd@8'],
    ],
    after: [
      'batch: Added a@1, Added b@1',
      'single: ReplacedAll 5 [a@1]',
      'single: SyncAll',
      'single: Bookmark 6',
      'batch: Added c@7, Added d@8',
    ],
  },
];

/** Keys of names with an f fail once they are queued. */
const BROKEN: readonly { readonly names: readonly string[]; readonly after: readonly string[] }[] = [
  { names: ['f3'], after: ['single: Added f3@1'] },
  { names: ['s1', 's2', 'f3'], after: ['batch: Added s1@1, Added s2@1, Added f3@1'] },
  {
    names: ['s1', 's2', 'f3', 'f4'],
    after: ['batch: Added s1@1, Added s2@1, Added f3@1', 'single: Added f4@1'],
  },
  { names: ['f3', 's1', 'f4'], after: ['single: Added f3@1', 'batch: Added s1@1, Added f4@1'] },
];

async function popBatches(queue: RealFIFO<TestObject>): Promise<string[]> {
  const calls: string[] = [];
  while (queue.size > 0) {
    await queue.popBatch(
      (deltas) => calls.push(`batch: ${deltasText(deltas)}`),
      (deltas) => calls.push(`single: ${deltasText(deltas)}`),
    );
  }
  return calls;
}

describe('popBatch', () => {
  for (const { title, steps, after } of CASES) {
    test(`C110 ${title}`, async () => {
      const queue = new RealFIFO<TestObject>({
        atomicEvents: true,
        emitDeltaTypeBookmark: true,
        batchSize: 4,
      });
      perform(queue, steps);
      assert.deepEqual(await popBatches(queue), after);
    });
  }

  for (const { names, after } of BROKEN) {
    test(`a change whose key fails ends its batch: ${names.join(', ')}`, async () => {
      let isBroken = false;
      const queue = new RealFIFO<TestObject>({
        atomicEvents: true,
        keyFunction: ({ metadata: { name } }) => {
          if (isBroken && name.startsWith('f')) throw new Error('no key');
          return name;
        },
      });
      perform(
        queue,
        names.map((name): Step => ['add', `${name}@1`]),
      );
      isBroken = true;
      assert.deepEqual(await popBatches(queue), after);
    });
  }

  test('takes at most 1000 by default, and returns the processed changes', async () => {
    const queue = new RealFIFO<TestObject>({ atomicEvents: true });
    perform(
      queue,
      Array.from({ length: 2500 }, (_, index): Step => ['add', `n${index}@1`]),
    );
    const lengths: number[] = [];
    while (queue.size > 0)
      lengths.push(
        (
          await queue.popBatch(
            () => {},
            () => {},
          )
        ).length,
      );
    assert.deepEqual(lengths, [1000, 1000, 500]);
  });

  test('C110 a batch ends with the first list, after whose processing the queue has synced', async () => {
    const queue = new RealFIFO<TestObject>({
      knownObjects: { listKeys: () => [], getByKey: () => undefined },
    });
    perform(queue, [
      ['replace', '3', 'a@1 b@2 c@3'],
      ['add', 'd@4'],
      ['add', 'e@5'],
    ]);
    const calls: string[] = [];
    const process = (deltas: Parameters<typeof deltasText>[0], isInInitialList: boolean): void => {
      calls.push(`${deltasText(deltas)} initial=${isInInitialList} synced=${queue.hasSynced()}`);
    };
    await queue.popBatch(process, process);
    assert.equal(queue.hasSynced(), true);
    await queue.popBatch(process, process);
    assert.deepEqual(calls, [
      'Replaced a@1, Replaced b@2, Replaced c@3 initial=true synced=false',
      'Added d@4, Added e@5 initial=false synced=true',
    ]);
  });

  test('counts the first list down by whole batches', async () => {
    const queue = new RealFIFO<TestObject>({
      knownObjects: { listKeys: () => [], getByKey: () => undefined },
      batchSize: 2,
    });
    perform(queue, [['replace', '3', 'a@1 b@2 c@3']]);
    await queue.popBatch(
      () => {},
      () => {},
    );
    assert.equal(queue.hasSynced(), false);
    assert.match(queue.hasSyncedChecker.reason ?? '', /^1 of/);
    await queue.popBatch(
      () => {},
      () => {},
    );
    assert.equal(queue.hasSynced(), true);
  });
});
