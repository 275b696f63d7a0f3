/** The end of a controller whose reconciliations may finish: keys of objects that are gone come to no other owner. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ControllerSet } from '../../../src/controller/controller-set.ts';
import { ObjectClient } from '../../../src/controller/index.ts';
import { realClock } from '../../../src/base/clock.ts';
import { settled } from '../../../src/tools/apiserver/testing/index.ts';
import { resources } from '../../../src/index.ts';
import { Gate, Reconciliations, Scene, object } from './scene.ts';

const { deployments } = resources.apps.v1;

it('C231 a controller that drains reconciles a deletion that comes while another one is reconciled', async () => {
  await using scene = await Scene.start();
  await scene.create('deployments.apps', ...['first', 'second', 'here'].map((name) => object(name)));
  const cache = scene.cache();
  const client = new ObjectClient(scene.kubeConfig);
  await using set = new ControllerSet({ cache, client, clock: realClock });
  using gate = new Gate();
  using cleaning = new Gate();
  const done = new Reconciliations(async (key) => {
    if (key !== 'default/first' || done.keys.length <= 3) return;
    await (cache.get(deployments, key) ? gate : cleaning).opened;
  });
  set.controllerFor(deployments).reconcile(done.reconcile);
  set.start();
  const stop = new AbortController();
  await set.fill(stop.signal, () => undefined);
  const run = set.controllers[0]?.run(stop.signal, new AbortController().signal);
  await done.count(3);
  await scene.put('deployments.apps', object('first', 'default', { labels: { a: 'b' } }));
  await done.count(4);
  await scene.remove('deployments.apps', 'default', 'first');
  await settled(cache);
  stop.abort();
  gate.open();
  await done.count(5);
  await scene.remove('deployments.apps', 'default', 'second');
  await scene.put('deployments.apps', object('here', 'default', { labels: { a: 'b' } }));
  await settled(cache);
  cleaning.open();
  await run;
  assert.deepEqual(done.keys.slice(3), ['default/first', 'default/first', 'default/second']);
});

it('C231 a controller that drains reconciles a deletion that comes while another controller of the partition works', async () => {
  await using scene = await Scene.start();
  await scene.create('deployments.apps', object('gone'));
  const cache = scene.cache();
  const client = new ObjectClient(scene.kubeConfig);
  await using set = new ControllerSet({ cache, client, clock: realClock });
  using gate = new Gate();
  const idle = new Reconciliations();
  const busy = new Reconciliations(async () => gate.opened);
  set.controllerFor(deployments, { name: 'idle' }).reconcile(idle.reconcile);
  set.controllerFor(deployments, { name: 'busy' }).reconcile(busy.reconcile);
  set.start();
  const stop = new AbortController();
  const work = new AbortController();
  await set.fill(stop.signal, () => undefined);
  const runs = set.controllers.map((each) => each.run(stop.signal, work.signal));
  await idle.count(1);
  await busy.count(1);
  stop.abort();
  await scene.remove('deployments.apps', 'default', 'gone');
  await settled(cache);
  await idle.count(2);
  gate.open();
  await Promise.all(runs);
  assert.deepEqual(busy.keys, ['default/gone', 'default/gone']);
});

it('C231 a controller that drains reconciles waiting keys whose objects are gone, those that failed included, and no others', async () => {
  await using scene = await Scene.start();
  await scene.create('deployments.apps', ...['busy', 'failed', 'gone', 'here'].map((name) => object(name)));
  const cache = scene.cache();
  const client = new ObjectClient(scene.kubeConfig);
  await using set = new ControllerSet({ cache, client, clock: realClock });
  using gate = new Gate();
  const done = new Reconciliations(async (key) => {
    if (key === 'default/failed' && !cache.get(deployments, key) && !stop.signal.aborted)
      throw new Error('not now');
    if (key === 'default/busy' && done.keys.length > 4) await gate.opened;
  });
  const rateLimiter = { when: () => 3_600_000, forget: () => undefined, numRequeues: () => 0 };
  set.controllerFor(deployments, { rateLimiter, onError: () => undefined }).reconcile(done.reconcile);
  set.start();
  const stop = new AbortController();
  const work = new AbortController();
  await set.fill(stop.signal, () => undefined);
  const run = set.controllers[0]?.run(stop.signal, work.signal);
  await done.count(4);
  await scene.remove('deployments.apps', 'default', 'failed');
  await done.count(5);
  await scene.put('deployments.apps', object('busy', 'default', { labels: { a: 'b' } }));
  await done.count(6);
  await scene.remove('deployments.apps', 'default', 'gone');
  await scene.put('deployments.apps', object('here', 'default', { labels: { a: 'b' } }));
  await settled(cache);
  stop.abort();
  gate.open();
  await run;
  assert.deepEqual(done.keys.slice(4), ['default/failed', 'default/busy', 'default/gone', 'default/failed']);
});
