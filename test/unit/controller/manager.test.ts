/** The life of a manager: ready, leading, stopping, and what ends it with an error. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Manager } from '../../../src/controller/index.ts';
import { FakeClock, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { resources } from '../../../src/index.ts';
import { Fence } from '../../../src/shared/fence.ts';
import { failRequests } from '../tools/apiserver/fail-requests.ts';
import { Gate, Reconciliations, Scene, managerOf, managerWith, object, rejection, turns } from './scene.ts';
import type { SignalOptions } from '../../../src/base/signal-options.ts';

const { deployments, replicaSets } = resources.apps.v1;
const { configMaps, pods } = resources.core.v1;

describe('a manager', () => {
  it('reports that it is ready when the caches are filled', async () => {
    using ready = new Gate();
    await using running = await managerWith(['a'], { onReady: ready.open });
    running.manager.controllerFor(deployments).reconcile(() => undefined);
    void running.run();
    await ready.opened;
    assert.equal(running.manager.cache.list(deployments).items.length, 1);
  });

  it('lets a controller pass its signal on and ends when the reconciliations in progress have ended', async () => {
    await using running = await managerWith(['a', 'b']);
    const failures: unknown[] = [];
    let ended = 0;
    const done = running.reconciles(
      { onError: (error) => failures.push(error) },
      async (_key, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await turns();
        ended++;
        throw signal.reason;
      },
    );
    void running.run();
    await done.count(1);
    await running.end();
    assert.deepEqual([ended, done.keys.length, failures], [1, 1, []]);
    const { cache } = running.manager;
    assert.throws(() => cache.get(deployments, 'default/a'), { code: 'ERR_KUBELOOM_NOT_CACHED' });
  });

  it('is settled when its controllers have reconciled everything, not before they run', async () => {
    await using running = await managerWith(['a', 'b']);
    const done = running.reconciles();
    void running.run();
    await settled(running.manager);
    assert.deepEqual(done.keys.toSorted(), ['default/a', 'default/b']);
  });

  it('gives up when a reconciliation does not end in time, and names its key', async () => {
    const clock = new FakeClock();
    await using running = await managerWith(['a'], { clock, shutdownTimeoutMs: 5000 });
    using gate = new Gate();
    const done = running.reconciles({ name: 'web' }, () => gate.opened);
    const failed = rejection(running.run());
    await done.count(1);
    running.stop.abort();
    await turns();
    clock.advance(5000);
    const { code, message } = await failed;
    assert.equal(code, 'ERR_KUBELOOM_STILL_RUNNING');
    const expected = 'not ended 5000 ms after the stop (shutdownTimeoutMs): web default/a; pass the signal';
    assert.ok(message.startsWith(expected), message);
    gate.open();
  });

  it('rejects when the caches are not filled in time, with the reason', async () => {
    const clock = new FakeClock();
    await using scene = await Scene.start();
    await failRequests(scene.server, 403, 1000, { resource: 'replicasets' });
    await using running = managerOf(scene, { clock, cacheSyncTimeoutMs: 1000 });
    const done = new Reconciliations();
    running.manager.controllerFor(deployments).owns(replicaSets).reconcile(done.reconcile);
    const failed = rejection(running.run());
    while (!scene.codes.includes('ERR_KUBELOOM_FORBIDDEN')) await turns();
    clock.advance(1000);
    const { code, message } = await failed;
    assert.equal(code, 'ERR_KUBELOOM_NOT_SYNCED');
    assert.match(message, /replicasets.*403/);
    assert.deepEqual(done.keys, []);
  });

  it('ends without an error when it is stopped before, and while, the caches are filled', async () => {
    await using scene = await Scene.start();
    await failRequests(scene.server, 'hang', 1000);
    for (const isBefore of [true, false]) {
      await using running = managerOf(scene);
      running.manager.controllerFor(deployments).reconcile(() => undefined);
      if (isBefore) running.stop.abort();
      void running.run();
      await turns();
      await running.end();
    }
  });

  it('ends with the error of an informer that has ended by itself', async () => {
    await using running = await managerWith(['a']);
    const done = running.reconciles();
    const failed = rejection(running.run());
    await done.count(1);
    await running.scene.threads.close();
    assert.equal((await failed).code, 'ERR_KUBELOOM_STOPPED');
  });

  it('runs several controllers of one kind on one cache', async () => {
    await using running = await managerWith(['a']);
    const [one, two] = [new Reconciliations(), new Reconciliations()];
    running.manager.controllerFor(deployments, { name: 'one' }).reconcile(one.reconcile);
    running.manager.controllerFor(deployments, { name: 'two' }).reconcile(two.reconcile);
    void running.run();
    await Promise.all([one.count(1), two.count(1)]);
    assert.equal(running.manager.cache.informers.length, 1);
  });

  it('refuses controllers that it could not run', async () => {
    const newManager = (options: object = {}): Manager =>
      new Manager({ server: 'http://127.0.0.1:1' }, options);
    const manager = newManager();
    const refused = { code: 'ERR_KUBELOOM_OPTION' };
    await assert.rejects(manager.run({ signal: new AbortController().signal }), refused, 'no controller');
    const declared = manager.controllerFor(deployments);
    assert.throws(() => manager.controllerFor(deployments), refused, 'the same name');
    assert.throws(() => manager.controllerFor(pods, { concurrency: 0 }), refused);
    assert.throws(() => manager.controllerFor(pods, { workers: 2 } as object), refused);
    assert.throws(() => declared.owns(pods, { predicate: true as never }), refused);
    assert.throws(() => declared.watches(pods, undefined as never), refused);
    assert.throws(() => declared.reconcile(undefined as never), refused);
    assert.throws(() => newManager({ leaderElector: {} }), refused);
    assert.throws(() => newManager({ cache: { nope: 1 } }), refused);
    const incomplete = { ...refused, message: /call reconcile\(\)/ };
    await assert.rejects(manager.run({ signal: new AbortController().signal }), incomplete);
    const signal = AbortSignal.abort();
    declared.reconcile(() => undefined);
    await manager.run({ signal });
    const started = { code: 'ERR_KUBELOOM_STARTED' };
    await assert.rejects(manager.run({ signal }), started);
    assert.throws(() => manager.controllerFor(pods), started);
    assert.throws(() => declared.owns(pods), started);
  });
});

describe('a manager with a leader elector', () => {
  /** A gate of leadership that the test opens and closes. */
  class TestElector {
    readonly begun = new Gate();
    readonly elected = new Gate();
    readonly leading = new AbortController();
    readonly clock = new FakeClock();
    readonly #fence = new Fence(this.clock, this.clock.now() + 1000, () => 'over');
    readonly lines: string[] = [];
    loss: Error | undefined;

    async run(
      { signal }: Required<SignalOptions>,
      lead: (leading: AbortSignal, fence: AbortSignal) => Promise<void>,
    ) {
      signal.addEventListener('abort', () => this.leading.abort(signal.reason));
      this.begun.open();
      await this.elected.opened;
      this.lines.push('elected');
      await lead(this.leading.signal, this.#fence.signal);
      this.lines.push('work ended');
      if (this.loss) throw this.loss;
    }
  }

  it('fills the caches before the election, and reconciles after it; other controllers run at once', async () => {
    await using scene = await Scene.start();
    await scene.create('deployments.apps', object('a'));
    await scene.create('configmaps', object('c'));
    const elector = new TestElector();
    await using running = managerOf(scene, { leaderElector: elector });
    const [led, free] = [new Reconciliations(), new Reconciliations()];
    running.manager.controllerFor(deployments).reconcile(led.reconcile);
    running.manager.controllerFor(configMaps, { needsLeadership: false }).reconcile(free.reconcile);
    const run = running.run();
    await Promise.all([elector.begun.opened, free.count(1)]);
    assert.equal(running.manager.cache.list(deployments).items.length, 1);
    assert.deepEqual(led.keys, []);
    elector.elected.open();
    await led.count(1);
    running.stop.abort();
    await run;
    assert.deepEqual(elector.lines, ['elected', 'work ended']);
  });

  it('does not release the leadership while a reconciliation is in progress', async () => {
    const elector = new TestElector();
    await using running = await managerWith(['a'], { leaderElector: elector });
    using gate = new Gate();
    const led = running.reconciles({}, () => gate.opened);
    elector.elected.open();
    const run = running.run();
    await led.count(1);
    running.stop.abort();
    await turns();
    assert.deepEqual(elector.lines, ['elected']);
    gate.open();
    await run;
    assert.deepEqual(elector.lines, ['elected', 'work ended']);
  });

  it('stops all controllers and rejects when the leadership is lost', async () => {
    const elector = new TestElector();
    await using running = await managerWith(['a'], { leaderElector: elector });
    const led = new Reconciliations();
    let freeSignal: AbortSignal | undefined;
    const free = new Reconciliations((_key, { signal }) => void (freeSignal = signal));
    running.manager.controllerFor(deployments).reconcile(led.reconcile);
    running.manager
      .controllerFor(deployments, { name: 'free', needsLeadership: false })
      .reconcile(free.reconcile);
    elector.elected.open();
    const failed = rejection(running.run());
    await Promise.all([led.count(1), free.count(1)]);
    elector.loss = new Error('lost');
    elector.leading.abort(elector.loss);
    assert.equal(await failed, elector.loss);
    assert.ok(freeSignal?.aborted);
  });

  it('C470 leads from the election to the end of its fence, which a clock ends without an event', async () => {
    const elector = new TestElector();
    await using running = await managerWith(['a'], { leaderElector: elector });
    const led = running.reconciles();
    const { manager } = running;
    const run = running.run();
    await elector.begun.opened;
    assert.equal(manager.isLeading(), false);
    elector.elected.open();
    await led.count(1);
    assert.equal(manager.isLeading(), true);
    running.stop.abort();
    await run;
    assert.equal(manager.isLeading(), true);
    elector.clock.advance(1000);
    assert.equal(manager.isLeading(), false);
    assert.equal(new Manager({ server: 'http://127.0.0.1:1' }).isLeading(), true);
  });
});
