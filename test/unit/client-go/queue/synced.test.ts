/** Tests of when a queue has synced: the tables of client-go's three queues, and deliberate improvements. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import { deferred } from '../../../kit/deferred.ts';
import { object, objects } from './notation.ts';
import type { TestObject } from './notation.ts';
import { QUEUES, atomicFifo, deltaFifo, ignore, perform, poppedText, realFifo } from './scene.ts';

/** `realSynced` is the expectation for a RealFIFO, where it differs. */
type Case = readonly [title: string, steps: string, pops: number, synced: boolean, realSynced?: boolean];

const LIST = 'replace 0 [a@1 b@1]';
const CASES: readonly Case[] = [
  ['has not synced before anything was received', '', 0, false],
  ['has synced when a change comes before any list', 'add a@1', 0, true],
  ['has synced when a deletion comes before any list', 'delete a@1', 0, true],
  ['has synced when the first list is empty', 'replace 0 []', 0, true],
  ['has not synced while the first list is queued', LIST, 0, false],
  ['has not synced when half of the first list is processed', LIST, 1, false],
  ['has synced when the first list is processed', LIST, 2, true],
  ['does not sync earlier for a change that follows the list', `${LIST}, add c@2`, 1, false],
  ['does not sync later for a change that follows the list', `${LIST}, add c@2`, 2, true],
  ['has synced when a key that is twice in the list is processed', 'replace 0 [a@1 a@2]', 1, true, false],
  ['does not sync by a resync', 'resync', 0, false],
];

const { FIFO: fifo, DeltaFIFO, RealFIFO } = QUEUES;

describe('the first list of a queue', () => {
  for (const [name, create] of Object.entries({ FIFO: fifo, DeltaFIFO, RealFIFO })) {
    for (const [title, steps, pops, synced, realSynced = synced] of CASES) {
      test(`C105 a ${name} ${title}`, async () => {
        const queue = create();
        perform(queue, steps);
        for (let pop = 0; pop < pops; pop++) await queue.pop(ignore);
        const expected = name === 'RealFIFO' ? realSynced : synced;
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
