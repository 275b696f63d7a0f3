/** Tests of when a queue has synced: the tables of client-go's three queues, and deliberate improvements. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import { object, objects } from './notation.ts';
import type { TestObject } from './notation.ts';
import { QUEUES, atomicFifo, deferred, deltaFifo, ignore, perform, poppedText, realFifo } from './scene.ts';

interface Case {
  readonly title: string;
  readonly steps: string;
  readonly pops: number;
  readonly synced: boolean;
  /** Expectation for a RealFIFO, where it differs. */
  readonly realSynced?: boolean;
}

const CASES: readonly Case[] = [
  { title: 'has not synced before anything was received', steps: '', pops: 0, synced: false },
  { title: 'has synced when a change comes before any list', steps: 'add a@1', pops: 0, synced: true },
  { title: 'has synced when a deletion comes before any list', steps: 'delete a@1', pops: 0, synced: true },
  { title: 'has synced when the first list is empty', steps: 'replace 0 []', pops: 0, synced: true },
  {
    title: 'has not synced while the first list is queued',
    steps: 'replace 0 [a@1 b@1]',
    pops: 0,
    synced: false,
  },
  {
    title: 'has not synced when half of the first list is processed',
    steps: 'replace 0 [a@1 b@1]',
    pops: 1,
    synced: false,
  },
  {
    title: 'has synced when the first list is processed',
    steps: 'replace 0 [a@1 b@1]',
    pops: 2,
    synced: true,
  },
  {
    title: 'does not sync earlier for a change that follows the list',
    steps: 'replace 0 [a@1 b@1], add c@2',
    pops: 1,
    synced: false,
  },
  {
    title: 'does not sync later for a change that follows the list',
    steps: 'replace 0 [a@1 b@1], add c@2',
    pops: 2,
    synced: true,
  },
  {
    title: 'has synced when a key that is twice in the list is processed, in a RealFIFO twice',
    steps: 'replace 0 [a@1 a@2]',
    pops: 1,
    synced: true,
    realSynced: false,
  },
  { title: 'does not sync by a resync', steps: 'resync', pops: 0, synced: false },
];

const { FIFO: fifo, DeltaFIFO, RealFIFO } = QUEUES;

describe('the first list of a queue', () => {
  for (const [name, create] of Object.entries({ FIFO: fifo, DeltaFIFO, RealFIFO })) {
    for (const row of CASES) {
      test(`C105 a ${name} ${row.title}`, async () => {
        const queue = create();
        perform(queue, row.steps);
        for (let pop = 0; pop < row.pops; pop++) await queue.pop(ignore);
        const expected = name === 'RealFIFO' ? (row.realSynced ?? row.synced) : row.synced;
        assert.equal(queue.hasSynced(), expected);
        assert.equal(queue.hasSyncedChecker.isDone, expected);
        assert.equal(queue.hasSyncedChecker.name, name);
        if (expected) await queue.hasSyncedChecker.done;
        else assert.notEqual(queue.hasSyncedChecker.reason, 'synced');
      });
    }

    test(`C105 a ${name} has synced after the processing of the last item, its promise included`, async () => {
      const queue = create();
      perform(queue, 'replace 0 [a@1]');
      const gate = deferred();
      const started = deferred();
      const popped = queue.pop(async (_popped, isInInitialList) => {
        assert.equal(isInInitialList, true);
        started.resolve();
        await gate.promise;
      });
      await started.promise;
      assert.equal(queue.hasSynced(), false);
      gate.resolve();
      await popped;
      assert.equal(queue.hasSynced(), true);
    });

    test(`C105 a ${name} has synced also when processing throws, because the consumer handles the error`, async () => {
      const queue = create();
      perform(queue, 'replace 0 [a@1]');
      const failure = new Error('no');
      await assert.rejects(
        queue.pop(() => Promise.reject(failure)),
        failure,
      );
      assert.equal(queue.hasSynced(), true);
    });

    test(`C105 a ${name} that has synced stays synced when a later list comes`, async () => {
      const queue = create();
      perform(queue, 'replace 0 [a@1]');
      await queue.pop(ignore);
      perform(queue, 'replace 1 [a@1 b@2]');
      assert.equal(queue.hasSynced(), true);
      await queue.pop((_popped, isInInitialList) => assert.equal(isInInitialList, false));
    });
  }

  for (const [create, expected] of [
    [deltaFifo, ['Sync foo@5', 'Deleted bar@6?', 'Deleted baz@7?']],
    [realFifo, ['Deleted bar@6?', 'Deleted baz@7?', 'Replaced foo@5']],
  ] as const) {
    const queue = create({ known: 'foo@5 bar@6 baz@7' });
    test(`a ${queue.name} has synced after the deletions that the first list caused`, async () => {
      perform(queue, 'replace 0 [foo@5]');
      for (const text of expected) {
        assert.equal(queue.hasSynced(), false);
        await queue.pop((deltas, isInInitialList) => {
          assert.equal(isInInitialList, true);
          assert.equal(poppedText(deltas), text);
        });
      }
      assert.equal(queue.hasSynced(), true);
    });
  }

  test('C105 an atomic RealFIFO has synced after the pop of its first list, also of an empty one', async () => {
    for (const items of ['', 'a@1 b@2']) {
      const queue = atomicFifo();
      perform(queue, `replace 0 [${items}]`);
      assert.equal(queue.hasSynced(), false);
      await queue.pop(ignore);
      assert.equal(queue.hasSynced(), true);
    }
  });

  test('an atomic RealFIFO does not sync by a bookmark, nor by its processing while the first list comes', async () => {
    const queue = atomicFifo();
    queue.bookmark('1');
    assert.equal(queue.hasSynced(), false);
    await queue.pop(() => queue.replace(objects('a@1'), '2'));
    assert.equal(queue.hasSynced(), false, 'the list is still queued');
    await queue.pop(ignore);
    assert.equal(queue.hasSynced(), true);
  });

  test('a FIFO has synced when the rest of the first list was deleted or is not in the next list', async () => {
    const queue = new FIFO<TestObject>();
    perform(queue, 'replace 0 [a@1 b@1 c@1], delete a@2');
    assert.equal(queue.hasSynced(), false);
    perform(queue, 'replace 1 [c@2 d@2]');
    assert.equal(queue.hasSynced(), false);
    await queue.pop(ignore);
    assert.equal(queue.hasSynced(), true);
  });

  test('a FIFO is not synced while it processes an item that was deleted during the processing', async () => {
    const queue = new FIFO<TestObject>();
    perform(queue, 'replace 0 [a@1]');
    await queue.pop(() => {
      queue.delete(object('a@2'));
      assert.equal(queue.hasSynced(), false);
      queue.replace([], '3');
      assert.equal(queue.hasSynced(), false);
    });
    assert.equal(queue.hasSynced(), true);
  });
});
