/** Tests of lazy values and sync trackers. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { AsyncTracker, Lazy, SingleFileTracker } from '../../../../src/client-go/cache/synctrack.ts';
import { deferred } from '../../../kit/deferred.ts';
import type { Deferred } from '../../../kit/deferred.ts';

/** Evaluations that end when the test ends them. */
function scripted(): { lazy: Lazy<string>; running: Deferred<string>[] } {
  const running: Deferred<string>[] = [];
  const lazy = new Lazy(() => {
    const evaluation = deferred<string>();
    running.push(evaluation);
    return evaluation.promise;
  });
  return { lazy, running };
}

describe('a lazy value', () => {
  test('is computed on demand, once until the next change', async () => {
    let reality = 1;
    let evaluations = 0;
    const lazy = new Lazy(() => (evaluations++, reality));
    lazy.notify();
    assert.equal(evaluations, 0);
    assert.equal(await lazy.get(), 1);
    reality = 2;
    assert.equal(await lazy.get(), 1);
    lazy.notify();
    assert.equal(await lazy.get(), 2);
    assert.equal(evaluations, 2);
  });

  test('is computed once for concurrent callers', async () => {
    const { lazy, running } = scripted();
    const all = Promise.all([lazy.get(), lazy.get(), lazy.get()]);
    assert.equal(running.length, 1);
    running[0]?.resolve('a');
    assert.deepEqual(await all, ['a', 'a', 'a']);
  });

  test('is never overwritten by an older evaluation, whichever ends first', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { lazy, running } = scripted();
      const first = lazy.get();
      lazy.notify();
      const second = lazy.get();
      for (const index of order) running[index]?.resolve(`value ${index}`);
      assert.deepEqual(await Promise.all([first, second]), ['value 0', 'value 1']);
      assert.equal(await lazy.get(), 'value 1');
      assert.equal(running.length, 2);
    }
  });

  test('keeps no error, and an old error does not drop a newer value', async () => {
    const { lazy, running } = scripted();
    const first = lazy.get();
    lazy.notify();
    const second = lazy.get();
    running[1]?.resolve('b');
    running[0]?.reject(new Error('old'));
    await assert.rejects(first, /old/);
    assert.deepEqual([await second, await lazy.get(), running.length], ['b', 'b', 2]);

    lazy.notify();
    const third = lazy.get();
    running[2]?.reject(new Error('failed'));
    await assert.rejects(third, /failed/);
    const fourth = lazy.get();
    running[3]?.resolve('d');
    assert.equal(await fourth, 'd');

    const throwing = new Lazy(() => {
      throw new Error('at once');
    });
    await assert.rejects(throwing.get(), /at once/);
  });
});

describe('a sync tracker', () => {
  for (const [title, create] of [
    ['that counts', () => new SingleFileTracker('mine')],
    ['by key', () => new AsyncTracker<number>('mine')],
  ] as const) {
    test(`a tracker ${title} is done when upstream has synced and all started items are finished`, async () => {
      const tracker = create();
      const start = (key: number): void => tracker.start(key);
      const finished = (key: number): void => tracker.finished(key);
      let isResolved = false;
      void tracker.done.then(() => (isResolved = true));

      assert.equal(tracker.name, 'mine');
      start(1);
      finished(1);
      assert.deepEqual([tracker.hasSynced(), tracker.reason], [false, 'upstream has not synced']);
      start(2);
      start(3);
      tracker.upstreamHasSynced();
      finished(2);
      await Promise.resolve();
      assert.deepEqual([tracker.isDone, isResolved], [false, false]);
      assert.equal(tracker.reason, '1 items of the initial list are not finished');
      finished(3);
      await tracker.done;
      assert.deepEqual([tracker.isDone, tracker.hasSynced(), tracker.reason], [true, true, '']);
      start(4);
      assert.equal(tracker.hasSynced(), true);
    });

    test(`a tracker ${title} is done at once when upstream synced without items`, () => {
      const tracker = create();
      tracker.upstreamHasSynced();
      assert.equal(tracker.hasSynced(), true);
    });
  }

  test('a tracker that counts rejects finishing an item that was not started', () => {
    const tracker = new SingleFileTracker('mine');
    assert.throws(() => tracker.finished(), { code: 'ERR_KUBELOOM_NOT_STARTED', message: /mine/ });
  });

  test('a tracker by key ignores the end of an item that was not started, and counts a key once', () => {
    const tracker = new AsyncTracker<string>('mine');
    tracker.finished('never started');
    tracker.start('a');
    tracker.start('a');
    tracker.upstreamHasSynced();
    tracker.finished('b');
    assert.equal(tracker.hasSynced(), false);
    tracker.finished('a');
    assert.equal(tracker.hasSynced(), true);
  });
});
