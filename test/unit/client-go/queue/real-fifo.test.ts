/** Tests of a RealFIFO: its options, its metrics, and `popBatch`. What it pops is in pops.test.ts and histories.test.ts. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import type { RealFIFOOptions } from '../../../../src/client-go/queue/real-fifo.ts';
import { deltasText } from './notation.ts';
import type { TestObject } from './notation.ts';
import { ignore, known, perform } from './scene.ts';

const REFUSED: Readonly<Record<string, object>> = {
  'known objects with atomic events': { atomicEvents: true, knownObjects: known('') },
  'neither known objects nor atomic events': {},
  'bookmarks without atomic events': { knownObjects: known(''), emitDeltaTypeBookmark: true },
  'a batch size of 0': { atomicEvents: true, batchSize: 0 },
};

describe('a RealFIFO', () => {
  for (const [what, options] of Object.entries(REFUSED)) {
    test(`refuses ${what}`, () => {
      assert.throws(() => new RealFIFO(options as RealFIFOOptions<TestObject>), {
        code: 'ERR_KUBELOOM_OPTION',
      });
    });
  }

  test('ignores bookmarks by default', () => {
    const queue = new RealFIFO<TestObject>({ atomicEvents: true });
    queue.bookmark('5');
    assert.equal(queue.size, 0);
  });

  test('reports its depth and every processing', async () => {
    const depths: number[] = [];
    const processed: number[] = [];
    const queue = new RealFIFO<TestObject>({
      atomicEvents: true,
      onDepth: (depth) => depths.push(depth),
      onProcessed: (changes, durationMs) => {
        assert.ok(durationMs >= 0);
        processed.push(changes);
      },
    });
    perform(queue, 'add a@1, add b@1, add c@1');
    await queue.pop(ignore);
    const failing = queue.popBatch(() => Promise.reject(new Error('no')), ignore);
    await assert.rejects(failing);
    assert.deepEqual(depths, [1, 2, 3, 2, 0]);
    assert.deepEqual(processed, [1, 2]);
  });
});

/** Steps, and the calls that `popBatch` makes for them. */
const CASES: Readonly<Record<string, readonly [steps: string, calls: string]>> = {
  'a single change is processed by itself': ['add a@1', 'single: Added a@1'],
  'changes of different objects come together, up to the batch size': [
    'add a@1, add b@1, add c@1, add d@1, add e@1',
    'batch: Added a@1, Added b@1, Added c@1, Added d@1 | single: Added e@1',
  ],
  'a batch ends before a second change of one object': [
    'add a@1, add b@1, delete a@2, add a@3',
    'batch: Added a@1, Added b@1 | single: Deleted a@2 | single: Added a@3',
  ],
  'a batch ends before a change of the whole collection, which comes alone': [
    'add a@1, add b@1, replace 5 [a@1], resync, bookmark 6, add c@7, add d@8',
    'batch: Added a@1, Added b@1 | single: ReplacedAll 5 [a@1] | single: SyncAll | ' +
      'single: Bookmark 6 | batch: Added c@7, Added d@8',
  ],
};

/** Keys of names with an f fail once they are queued. */
const BROKEN: Readonly<Record<string, string>> = {
  'add f3@1': 'single: Added f3@1',
  'add s1@1, add s2@1, add f3@1': 'batch: Added s1@1, Added s2@1, Added f3@1',
  'add s1@1, add s2@1, add f3@1, add f4@1': 'batch: Added s1@1, Added s2@1, Added f3@1 | single: Added f4@1',
  'add f3@1, add s1@1, add f4@1': 'single: Added f3@1 | batch: Added s1@1, Added f4@1',
};

async function popBatches(queue: RealFIFO<TestObject>): Promise<string> {
  const calls: string[] = [];
  while (queue.size > 0) {
    await queue.popBatch(
      (deltas) => calls.push(`batch: ${deltasText(deltas)}`),
      (deltas) => calls.push(`single: ${deltasText(deltas)}`),
    );
  }
  return calls.join(' | ');
}

describe('popBatch', () => {
  for (const [title, [steps, calls]] of Object.entries(CASES)) {
    test(`C110 ${title}`, async () => {
      const options = { atomicEvents: true, emitDeltaTypeBookmark: true, batchSize: 4 } as const;
      const queue = new RealFIFO<TestObject>(options);
      perform(queue, steps);
      assert.equal(await popBatches(queue), calls);
    });
  }

  for (const [steps, calls] of Object.entries(BROKEN)) {
    test(`a change whose key fails ends its batch: ${steps}`, async () => {
      let isBroken = false;
      const queue = new RealFIFO<TestObject>({
        atomicEvents: true,
        keyFunction: ({ metadata: { name } }) => {
          if (isBroken && name.startsWith('f')) throw new Error('no key');
          return name;
        },
      });
      perform(queue, steps);
      isBroken = true;
      assert.equal(await popBatches(queue), calls);
    });
  }

  test('takes at most 1000 changes by default, and returns the processed ones', async () => {
    const queue = new RealFIFO<TestObject>({ atomicEvents: true });
    perform(
      queue,
      Array.from({ length: 2500 }, (_, index) => ['add', `n${index}@1`] as const),
    );
    const lengths: number[] = [];
    while (queue.size > 0) lengths.push((await queue.popBatch(ignore, ignore)).length);
    assert.deepEqual(lengths, [1000, 1000, 500]);
  });

  test('C110 a batch ends with the first list, after whose processing the queue has synced', async () => {
    const queue = new RealFIFO<TestObject>({ knownObjects: known('') });
    perform(queue, 'replace 3 [a@1 b@2 c@3], add d@4, add e@5');
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
    const queue = new RealFIFO<TestObject>({ knownObjects: known(''), batchSize: 2 });
    perform(queue, 'replace 3 [a@1 b@2 c@3]');
    await queue.popBatch(ignore, ignore);
    assert.equal(queue.hasSynced(), false);
    assert.match(queue.hasSyncedChecker.reason ?? '', /^1 of/);
    await queue.popBatch(ignore, ignore);
    assert.equal(queue.hasSynced(), true);
  });
});
