/** `settled` waits for exactly what it promises, over a server, over a source, and with fake timers. */
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer, resources } from '../../../../../src/index.ts';
import { Manager } from '../../../../../src/controller/index.ts';
import { RateLimitingQueue, runWorkers } from '../../../../../src/workqueue/index.ts';
import {
  FakeClock,
  FakeControllerSource,
  settled,
} from '../../../../../src/tools/apiserver/testing/index.ts';
import type { SettledOptions } from '../../../../../src/tools/apiserver/testing/index.ts';
import { PODS, pod } from '../../../../kit/objects.ts';
import { Scene } from '../../../../kit/scene.ts';
import { SourcedInformer, THREADS } from './sourced-informer.ts';

/** An aborted signal: `settled` checks once, and reports what it found. */
const LOOK_ONCE = { signal: AbortSignal.abort() };

const realImmediate = setImmediate;

/** Waits for some turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => realImmediate(resolve));
}

for (const threads of THREADS) {
  describe(`settled, threads: ${threads}`, () => {
    it('waits for the consequences of watches that break during the wait', async () => {
      await using scene = await Scene.start({ threads: { indexerThreads: threads } });
      const informer = scene.informer();
      await scene.synced(informer);
      await scene.server.waitForWatches(1);
      await scene.server.dropWatches({ how: 'reset' });
      await scene.put(pod('a'));
      await settled(informer);
      await scene.assertEqualsServer(informer);
      assert.ok(informer.getStore().getByKey('default/a'));
    });

    it('waits for events that bring nothing new to this informer', async () => {
      await using scene = await Scene.start({ threads: { indexerThreads: threads } });
      const informer = scene.informer({ namespace: 'web' });
      await scene.synced(informer);
      await scene.put(pod('elsewhere'));
      await settled(informer);
      assert.ok(Number(informer.lastSyncResourceVersion()) >= (await scene.server.revision()));
      assert.deepEqual(informer.getStore().listKeys(), []);
    });

    it('C136 works while all timers of node:test are fake', async () => {
      await using scene = await Scene.start({ threads: { indexerThreads: threads } });
      const source = new FakeControllerSource<V1Pod>();
      mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] });
      try {
        let calls = 0;
        const informer = scene.informer();
        informer.addEventHandler({ onAdd: async () => void (await turns(2), calls++) });
        void scene.run(informer);
        await using sourced = new SourcedInformer(source, threads).run();
        await settled(informer, sourced.informer);
        await scene.put(pod('a'));
        source.add(pod('a'));
        await settled([informer, sourced.informer]);
        assert.equal(calls, 1);
        assert.deepEqual(sourced.seen, ['add default/a@1']);
        await informer[Symbol.asyncDispose]();
      } finally {
        mock.timers.reset();
      }
    });
  });
}

describe('settled', () => {
  it('accepts informers, collections of them, objects that have some, and options without a signal', async () => {
    const source = new FakeControllerSource<V1Pod>();
    await using one = new SourcedInformer(source, 0).run();
    await using two = new SourcedInformer(source, 0).run();
    await using three = new SourcedInformer(source, 0);
    await settled(one.informer, [two.informer]);
    await settled({ informers: new Set([one.informer, two.informer]) });
    await settled();
    await settled(one.informer, {});
    await settled({ signal: undefined } as unknown as SettledOptions, one.informer);
    const unstarted = settled({ informers: [one.informer, three.informer] }, [], LOOK_ONCE);
    await assert.rejects(unstarted, { message: 'not settled: pods (all namespaces) has not synced' });
  });

  it('names the handlers that are still running when its signal is aborted', async () => {
    const source = new FakeControllerSource<V1Pod>();
    source.add(pod('a'));
    await using scene = new SourcedInformer(source, 0);
    let finish = (): void => {};
    const open = new Promise<void>((resolve) => (finish = resolve));
    class Stuck {
      onAdd(): Promise<void> {
        return open;
      }
    }
    scene.informer.addEventHandler(new Stuck());
    scene.run();
    await scene.recorder.until(() => scene.seen.length === 1);
    await turns(10);
    await assert.rejects(settled(scene.informer, LOOK_ONCE), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'ERR_KUBELOOM_NOT_SETTLED');
      assert.match(
        error.message,
        /^not settled: pods \(all namespaces\): these handlers are still running: .*Stuck/,
      );
      return true;
    });
    const waiting = settled(scene.informer);
    finish();
    await waiting;
  });

  it('names the versions of an informer that is behind, and rejects for one that has stopped', async () => {
    const source = new FakeControllerSource<V1Pod>();
    await using scene = new SourcedInformer(source, 0).run();
    await settled(scene.informer);
    source.watchError = new Error('away');
    source.add(pod('a'));
    source.resetWatch();
    source.listError = new Error('away');
    await scene.error('ERR_KUBELOOM_LISTER_WATCHER');
    source.add(pod('b'));
    await assert.rejects(settled(scene.informer, LOOK_ONCE), /is at [01], its server at 2/);
    await scene[Symbol.asyncDispose]();
    await assert.rejects(settled(scene.informer), {
      code: 'ERR_KUBELOOM_NOT_SETTLED',
      message: 'not settled: pods (all namespaces) has stopped',
    });
  });

  it('C135 asks the server again until its version is the same in two checks', async () => {
    const answers = ['1', '2', '2'];
    const informer = {
      name: 'things',
      source: {
        list: () => Promise.reject(new Error('unused')),
        watch: () => Promise.reject(new Error('unused')),
        sendBookmarks: () => answers.shift() ?? assert.fail('asked too often'),
      },
      busyHandlers: [],
      isStopped: () => false,
      lastSyncResourceVersion: () => '2',
    };
    await settled(informer);
    assert.deepEqual(answers, []);
  });

  it('reports that it cannot ask the server', async () => {
    const threads = new InformerThreads({ indexerThreads: 0 });
    const plain = {
      list: () => Promise.reject(new Error('unused')),
      watch: () => Promise.reject(new Error('unused')),
    };
    const informer = new SharedIndexInformer<V1Pod>(plain, PODS, { threads });
    await assert.rejects(settled(informer), {
      code: 'ERR_KUBELOOM_OPTION',
      message: /its ListerWatcher has no sendBookmarks\(\)/,
    });
    await using scene = await Scene.start({ threads: { indexerThreads: 0 } });
    const other = scene.informer();
    await scene.server.close();
    await assert.rejects(settled(other), { message: /no embedded apiserver of this process is at http/ });
    await informer[Symbol.asyncDispose]();
    await threads.close();
  });
});

describe('settled with work queues', () => {
  it('waits until the keys that a change queues, and the writes of their reconciliations, are processed', async () => {
    await using scene = await Scene.start({ threads: { indexerThreads: 0 } });
    const informer = scene.informer();
    const queue = new RateLimitingQueue<string>({ name: 'pods' });
    informer.addEventHandler({ onAdd: ({ key }) => queue.add(key) });
    void scene.run(informer);
    const reconciled: string[] = [];
    const workers = runWorkers(queue, 1, async (key) => {
      await turns(5);
      if (reconciled.length === 0) {
        await scene.put(pod('b'));
      }
      reconciled.push(key);
    });
    await scene.put(pod('a'));
    await settled(informer, queue);
    assert.deepEqual(reconciled, ['default/a', 'default/b']);
    queue.shutDown();
    await workers;
  });

  it('takes collections of all that it takes, collections among them', async () => {
    await using scene = await Scene.start({ threads: { indexerThreads: 0 } });
    const informer = scene.informer();
    void scene.run(informer);
    await scene.put(pod('a'));
    await settled([{ informers: [informer] }, [new RateLimitingQueue<string>()]]);
    assert.ok(informer.getStore().getByKey('default/a'));
  });

  it('waits for the next attempt of a failed item, but not for an item that requested a later reconciliation', async () => {
    const queue = new RateLimitingQueue<string>();
    const attempts: string[] = [];
    const workers = runWorkers(
      queue,
      1,
      async (key) => {
        attempts.push(key);
        if (attempts.length === 1) throw new Error('the first attempt fails');
        return { requeueAfterMs: 3_600_000 };
      },
      { onError: () => {} },
    );
    queue.add('a');
    await settled({ queues: [queue], informers: [] });
    assert.deepEqual(attempts, ['a', 'a']);
    assert.equal(queue.waiting, 1);
    queue.shutDown();
    await workers;
  });

  it('names the items left in a queue when its signal is aborted', async () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'pods', clock });
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await queue.get();
    queue.addRateLimited('d');
    await assert.rejects(settled([queue], LOOK_ONCE), {
      code: 'ERR_KUBELOOM_NOT_SETTLED',
      message: 'not settled: queue pods: 2 waiting, 1 in work, 1 to be tried again',
    });
    queue.shutDown();
  });

  it('says that a manager does not run', async () => {
    await using scene = await Scene.start();
    const manager = new Manager(scene.server.connection);
    manager.controllerFor(resources.core.v1.pods).reconcile(() => undefined);
    const message = 'not settled: queue pods (the manager does not run): 1 waiting';
    await assert.rejects(settled(manager, LOOK_ONCE), { code: 'ERR_KUBELOOM_NOT_SETTLED', message });
    await manager.cache.shutdown();
  });

  it('gives up after a time without progress, with the key and the last failure as cause', async () => {
    const queue = new RateLimitingQueue<string>({ name: 'pods' });
    const bug = new Error('my bug');
    const workers = runWorkers(queue, 1, () => Promise.reject(bug), { onError: () => {} });
    queue.add('web/a');
    await assert.rejects(settled(queue, { timeoutMs: 50 }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'ERR_KUBELOOM_NOT_SETTLED');
      assert.match(error.message, /^not settled: queue pods: 1 .*; reconciling web\/a failed: my bug$/);
      assert.equal(error.cause, bug);
      return true;
    });
    queue.shutDown();
    await workers;
  });

  it('refuses options that it does not know', async () => {
    const wrong = { timeout: 5 } as unknown as SettledOptions;
    await assert.rejects(settled(wrong), {
      code: 'ERR_KUBELOOM_OPTION',
      message: /did you mean timeoutMs\?/,
    });
  });
});
