/** The health server and the log of a manager: what they say at the start, while it works, and at the stop. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LeaderElector, Manager, ObjectClient } from '../../../src/controller/index.ts';
import type { ManagerOptions } from '../../../src/controller/index.ts';
import { resources } from '../../../src/index.ts';
import { RecordingLogger } from '../../kit/recording-logger.ts';
import { processWarnings } from '../../kit/warnings.ts';
import { failRequests } from '../tools/apiserver/fail-requests.ts';
import { Gate, Reconciliations, Scene, managerOf, managerWith, object, rejection, turns } from './scene.ts';

const { deployments } = resources.apps.v1;

async function statuses(log: RecordingLogger, ...paths: string[]): Promise<string[]> {
  const { address } = log.fields[log.lines.indexOf('info serving health checks and metrics')] ?? {};
  return await Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`${String(address)}${path}`);
      return `${response.status} ${(await response.text()).trim().split('\n').join('; ')}`;
    }),
  );
}

describe('the health server of a manager', () => {
  it('is not ready until the caches are filled, nor after the stop, and has the checks of the program', async () => {
    await using scene = await Scene.start();
    await scene.create('deployments.apps', object('a'));
    await failRequests(scene.server, 403, 10_000, { resource: 'deployments' });
    const log = new RecordingLogger();
    using gate = new Gate();
    let isLeading = true;
    const leaderElector: NonNullable<ManagerOptions['leaderElector']> = {
      run: ({ signal }, lead) => lead(signal),
      isHealthy: () => isLeading,
    };
    const health = { port: 0, readyz: { database: () => true } };
    await using running = managerOf(scene, { log, health, leaderElector });
    const done = running.reconciles({}, () => gate.opened);
    const run = running.run();
    while (!log.lines.includes('info serving health checks and metrics')) await turns();
    assert.deepEqual(await statuses(log, '/healthz', '/readyz'), [
      '200 ok',
      '503 [+]ping ok; [+]leader-election ok; [+]database ok; [-]caches failed: reason withheld; ' +
        '[+]shutdown ok; readyz check failed',
    ]);
    await scene.server.healFaults();
    await done.count(1);
    assert.deepEqual(await statuses(log, '/healthz', '/readyz'), ['200 ok', '200 ok']);
    isLeading = false;
    const lost = '503 [-]leader-election failed: reason withheld';
    const paths = ['/healthz/leader-election', '/readyz/leader-election'];
    assert.deepEqual(await statuses(log, ...paths), [lost, lost]);
    running.stop.abort();
    const stopped = ['200 ok', '503 [-]shutdown failed: reason withheld'];
    assert.deepEqual(await statuses(log, '/healthz/ping', '/readyz/shutdown'), stopped);
    gate.open();
    await run;
    await assert.rejects(statuses(log, '/healthz'), /fetch failed/);
  });

  it('refuses wrong options, and ends the run when the port is taken', async () => {
    await using scene = await Scene.start();
    const { kubeConfig } = scene;
    for (const [health, message] of [
      [{}, /^health\.port must be given/],
      [{ port: 0, informers: [] }, /^there is no option health\.informers: /],
      [{ port: 0, readyz: { caches: () => true } }, /must be none of ping/],
    ] as const) {
      const create = (): unknown => new Manager(kubeConfig, { health: health as never });
      assert.throws(create, { code: 'ERR_KUBELOOM_OPTION', message });
    }
    await using running = managerOf(scene, { health: { port: Number(new URL(scene.server.url).port) } });
    running.manager.controllerFor(deployments).reconcile(() => undefined);
    assert.equal((await rejection(running.run())).code, 'EADDRINUSE');
  });
});

describe('the log of a manager', () => {
  it('has the id of the reconciliation in each line about it, also in lines of the reconcile function', async (context) => {
    const warned = processWarnings(context);
    const log = new RecordingLogger();
    const ids: string[] = [];
    let failures = 0;
    const done = new Reconciliations((_key, { log: own, reconcileID }) => {
      ids.push(reconcileID);
      own.info({ step: ids.length }, 'working');
      if (failures++ === 0) throw new Error('not yet\nfor reasons');
      return undefined;
    });
    await using running = await managerWith(['a'], { log });
    running.manager.controllerFor(deployments, { name: 'web' }).reconcile(done.reconcile);
    void running.run();
    await done.count(2);
    await running.end();
    const about = log.fields.flatMap(({ key, reconcileID }, index) =>
      key === undefined ? [] : [`${log.lines[index]} ${ids.indexOf(String(reconcileID))}`],
    );
    assert.deepEqual(about, [
      'info working 0',
      'error reconciling failed: not yet 0',
      'info working 1',
      'debug reconciled 1',
    ]);
    assert.notEqual(ids[0], ids[1]);
    const line = log.fields[log.lines.indexOf('error reconciling failed: not yet')] ?? {};
    const { controller, key, retries, err } = line;
    assert.deepEqual([controller, key, retries, err instanceof Error], ['web', 'default/a', 0, true]);
    const others = log.lines.filter((_, index) => log.fields[index]?.['key'] === undefined);
    assert.deepEqual(others, [
      'info the caches are filled',
      'info starting controller',
      'info controller has stopped',
      'info the manager has stopped',
    ]);
    assert.deepEqual(warned, []);
  });

  it('has the errors of the informers, with their informer and code, and also calls a given onError', async (context) => {
    const warned = processWarnings(context);
    await using scene = await Scene.start();
    await failRequests(scene.server, 403, 4, { resource: 'deployments' });
    const log = new RecordingLogger();
    await using running = managerOf(scene, { log });
    running.manager.controllerFor(deployments).reconcile(() => undefined);
    void running.run();
    while (!log.lines.includes('info the caches are filled')) await turns();
    await running.end();
    const index = log.fields.findIndex(({ code }) => code === 'ERR_KUBELOOM_FORBIDDEN');
    assert.match(log.lines[index] ?? '', /^warn .*403/);
    assert.equal(log.fields[index]?.['informer'], 'deployments (all namespaces)');
    assert.ok(scene.codes.includes('ERR_KUBELOOM_FORBIDDEN'));
    assert.deepEqual(warned, []);
  });

  it('C481 has the lines of the leader elector, unless the elector has a log of its own', async () => {
    const lines = ['info became leader', 'info there is a new leader'];
    await using scene = await Scene.start();
    for (const own of [undefined, new RecordingLogger()]) {
      const log = new RecordingLogger();
      const options = {
        client: new ObjectClient(scene.kubeConfig),
        namespace: 'default',
        name: `a-${String(!own)}`,
      };
      const leaderElector = new LeaderElector({ ...options, ...(own ? { log: own } : {}) });
      await using running = managerOf(scene, { log, leaderElector });
      running.manager.controllerFor(deployments).reconcile(() => undefined);
      void running.run();
      while (!log.lines.includes('info starting controller')) await turns();
      await running.end();
      for (const line of lines)
        assert.deepEqual(
          [log, own].map((each) => each?.lines.includes(line)),
          own ? [false, true] : [true, undefined],
        );
    }
  });

  it('may throw, which is a warning and ends nothing', async (context) => {
    const warned = processWarnings(context);
    const broken = (): never => {
      throw new Error('disk full');
    };
    const log = { debug: broken, info: broken, warn: broken, error: broken };
    const done = new Reconciliations((_key, context) => context.log.info('working'));
    await using running = await managerWith(['a'], { log });
    running.manager.controllerFor(deployments).reconcile(done.reconcile);
    void running.run();
    await done.count(1);
    await running.end();
    assert.equal(warned[0]?.code, 'ERR_KUBELOOM_ERROR_LISTENER');
    assert.equal(warned[0]?.message, 'log threw: disk full');
  });

  it('is the console for a reconcile function of a manager without a log', async (context) => {
    const seen: unknown[] = [];
    context.mock.method(console, 'info', (...line: unknown[]) => seen.push(line));
    let id = '';
    const done = new Reconciliations((_key, { log, reconcileID }) => {
      id = reconcileID;
      log.info('working');
    });
    await using running = await managerWith(['a']);
    running.manager.controllerFor(deployments).reconcile(done.reconcile);
    void running.run();
    await done.count(1);
    assert.deepEqual(seen, [[{ controller: 'deployments', key: 'default/a', reconcileID: id }, 'working']]);
  });
});
