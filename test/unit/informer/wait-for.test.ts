/** Waiting for several things: who is missing and why, how far it is, and that nothing is left behind. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import type { DoneProgress } from '../../../src/base/done-checker.ts';
import { WaitCondition } from '../../../src/informer/wait-condition.ts';
import {
  waitForCacheSync,
  waitForNamedCacheSync,
  NotSyncedError,
  waitFor,
  SettableDoneChecker,
} from '../../../src/informer/wait-for.ts';
import type { Syncable, WaitProgress } from '../../../src/informer/wait-for.ts';
import { FakeClock } from '../../../src/tools/apiserver/testing/fake-clock.ts';
import { outcome, turns } from './scene.ts';
import type { SignalOptions } from '../../../src/base/signal-options.ts';

/** A task that is done when the test says so. */
class Task extends SettableDoneChecker {
  why = '';
  read: DoneProgress = { items: 0, bytes: 0 };

  constructor(name: string) {
    super(
      name,
      () => this.why,
      () => this.read,
    );
  }
}

describe('waitFor', () => {
  test('resolves when the last one is done, without looking at a clock', async () => {
    const clock = new FakeClock();
    const [pods, nodes] = [new Task('pods'), new Task('nodes')];
    const waiting = outcome(waitFor('controller', { clock }, pods, nodes));
    await turns(1);
    assert.equal(waiting.state, 'pending');
    pods.finish();
    await turns(1);
    assert.equal(waiting.state, 'pending');
    nodes.finish();
    await turns(1);
    assert.equal(waiting.state, 'resolved');
    assert.equal(clock.pending, 0);
  });

  test('C145 counts checkers that are done although the signal was aborted before', async () => {
    const pods = new Task('pods');
    pods.finish();
    await waitFor('controller', { signal: AbortSignal.abort() }, pods);
    const done = outcome(waitFor('controller', {}, pods));
    const none = outcome(waitFor('controller', {}));
    await turns(1);
    assert.deepEqual([done.state, none.state], ['resolved', 'resolved']);
    const aborted = waitFor('controller', { signal: AbortSignal.abort('over') }, new Task('nodes'));
    await assert.rejects(aborted, { message: 'controller: not synced: nodes', cause: 'over' });
  });

  test('counts checkers that were done in the task in which the signal was aborted', async () => {
    const abort = new AbortController();
    const pods = new Task('pods');
    const waiting = waitFor('controller', { signal: abort.signal }, pods);
    pods.finish();
    abort.abort();
    await waiting;
  });

  test('C145 names the missing checkers in order, with reasons and progress, and the reason of the signal as its cause', async () => {
    const abort = new AbortController();
    const reason = new Error('30 s are over');
    const tasks = ['secrets', 'pods', 'nodes', 'leases'].map((name) => new Task(name));
    const [secrets, pods, nodes] = tasks as [Task, Task, Task];
    secrets.why = '403: secrets is forbidden';
    nodes.why = 'listing';
    nodes.read = { items: 500, bytes: 4096, expectedItems: 2000 };
    const waiting = waitFor('controller', { signal: abort.signal }, ...tasks);
    pods.finish();
    await turns(1);
    abort.abort(reason);
    await assert.rejects(waiting, (error: NotSyncedError) => {
      assert.equal(error.code, 'ERR_KUBELOOM_NOT_SYNCED');
      assert.equal(
        error.message,
        'controller: not synced: leases; nodes: listing, 500 of 2000 objects read; secrets: 403: secrets is forbidden',
      );
      assert.equal(error.cause, reason);
      assert.deepEqual(error.synced, ['pods']);
      assert.deepEqual(
        error.missing.map(({ name }) => name),
        ['leases', 'nodes', 'secrets'],
      );
      assert.deepEqual(error.missing[1]?.progress, nodes.progress);
      return true;
    });
  });

  test('leaves no timer and no listener, however it ends', async () => {
    const clock = new FakeClock();
    for (const ending of ['done', 'aborted', 'thrown', 'rejected']) {
      const abort = new AbortController();
      const pods = new Task('pods');
      const onProgress = (): unknown => {
        if (ending === 'thrown') throw new Error('no screen');
        return ending === 'rejected' ? Promise.reject(new Error('no terminal')) : undefined;
      };
      const waiting = outcome(waitFor('controller', { signal: abort.signal, clock, onProgress }, pods));
      assert.deepEqual([clock.pending, getEventListeners(abort.signal, 'abort').length], [1, 1]);
      if (ending === 'aborted') abort.abort();
      else if (ending === 'rejected') clock.advance(1000);
      else pods.finish();
      await turns(1);
      assert.deepEqual([clock.pending, getEventListeners(abort.signal, 'abort').length], [0, 0], ending);
      const expected = {
        done: 'resolved',
        aborted: 'controller: not synced: pods',
        thrown: 'no screen',
        rejected: 'no terminal',
      };
      assert.equal(waiting.state, expected[ending as keyof typeof expected]);
    }
  });

  test('reports progress in every interval and whenever a checker is done', async () => {
    const clock = new FakeClock();
    const seen: WaitProgress[] = [];
    const [pods, nodes] = [new Task('pods'), new Task('nodes')];
    const options = { clock, intervalMs: 250, onProgress: (progress: WaitProgress) => seen.push(progress) };
    const waiting = waitFor('controller', options, pods, nodes);
    pods.read = { items: 10, bytes: 1000 };
    nodes.read = { items: 1, bytes: 50, expectedItems: 3 };
    nodes.why = 'listing';
    clock.advance(249);
    assert.equal(seen.length, 0);
    clock.advance(1);
    const missingNodes = { name: 'nodes', reason: 'listing', progress: nodes.progress };
    assert.deepEqual(seen, [
      {
        what: 'controller',
        elapsedMs: 250,
        done: [],
        missing: [missingNodes, { name: 'pods', reason: '', progress: pods.progress }],
        items: 11,
        bytes: 1050,
      },
    ]);
    clock.advance(100);
    pods.finish();
    await turns(1);
    const { done, missing, elapsedMs, items } = seen[1] as WaitProgress;
    assert.deepEqual([done, missing, elapsedMs, items], [['pods'], [missingNodes], 350, 11]);
    clock.advance(400);
    assert.deepEqual(
      seen.map((progress) => progress.elapsedMs),
      [250, 350, 500, 750],
    );
    nodes.finish();
    await waiting;
    assert.deepEqual(seen.at(-1)?.done, ['nodes', 'pods']);
    assert.deepEqual(seen.at(-1)?.missing, []);
  });

  test('refuses an interval of 0', async () => {
    const waiting = waitFor('controller', { intervalMs: 0 }, new Task('pods'));
    await assert.rejects(waiting, { code: 'ERR_KUBELOOM_OPTION' });
  });
});

/** An informer, as far as waiting sees it. */
function syncable(name: string, wait: Promise<void>, isSynced: boolean, error?: string): Syncable {
  return {
    name,
    phase: 'listing',
    lastError: error === undefined ? undefined : new Error(error),
    progress: { items: 0, bytes: 0 },
    hasSynced: () => isSynced,
    waitForSync: () => wait,
  };
}

describe('waiting for caches', () => {
  test('names the controller, and every informer that has not synced with its last error or its phase', async () => {
    const reason = new Error('aborted');
    const informers = [
      syncable('pods', Promise.resolve(), true),
      syncable('secrets', Promise.reject(reason), false, 'forbidden'),
      syncable('nodes', Promise.reject(reason), false),
    ];
    const waiting = waitForNamedCacheSync('node-controller', informers);
    await assert.rejects(waiting, (error: NotSyncedError) => {
      assert.equal(error.message, 'node-controller: not synced: nodes: listing; secrets: listing: forbidden');
      assert.equal(error.cause, reason);
      assert.deepEqual(error.synced, ['pods']);
      return true;
    });
  });

  test('does not wait for the others once one can sync no more, counts one that has synced, and leaves nothing behind', async () => {
    const stop = new AbortController();
    const condition = new WaitCondition();
    const nodes = {
      ...syncable('nodes', Promise.resolve(), false),
      waitForSync: ({ signal }: SignalOptions = {}) => condition.until(() => false, signal),
    };
    const ended = new Error('stopped before it synced');
    await waitForCacheSync([syncable('pods', Promise.reject(ended), true)]);
    await assert.rejects(
      waitForCacheSync([nodes, syncable('pods', Promise.reject(ended), false)], { signal: stop.signal }),
      { message: 'not synced: nodes: listing; pods: listing', cause: ended },
    );
    assert.equal(condition.size, 0);
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  });
});
