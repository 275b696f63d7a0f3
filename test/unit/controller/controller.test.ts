/** Controllers on an embedded apiserver: which keys are reconciled, when, and on which state of the cache. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { Manager, generationChanged } from '../../../src/controller/index.ts';
import { FakeClock, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { ItemExponentialFailureRateLimiter } from '../../../src/workqueue/index.ts';
import { resources } from '../../../src/index.ts';
import { Gate, Reconciliations, Scene, managerOf, managerWith, object, turns } from './scene.ts';

const { deployments, replicaSets } = resources.apps.v1;
const { configMaps, pods } = resources.core.v1;

function owner(name: string, controller = true): object {
  return { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: `uid-${name}`, controller };
}

function ownedBy(name: string): object {
  return { ownerReferences: [owner(name)] };
}

describe('a controller', () => {
  it('C314 aborts a reconciliation after timeoutMs, which has failed when it ends', async () => {
    const clock = new FakeClock();
    await using running = await managerWith(['a'], { clock });
    const failures: unknown[] = [];
    const onError = (error: unknown): unknown => failures.push((error as { code?: string }).code);
    const done = running.reconciles({ timeoutMs: 5000, onError }, async (_key, { signal }) => {
      if (done.keys.length === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    void running.run();
    await done.count(1);
    clock.advance(5000);
    while (failures.length === 0) await turns(1);
    clock.advance(5);
    await done.count(2);
    assert.deepEqual(failures, ['ERR_KUBELOOM_STILL_RUNNING']);
  });

  it('queues the keys of a stream, and of every owner where it owns so', async () => {
    await using scene = await Scene.start();
    const ownerReferences = [owner('x', false), owner('y')];
    await scene.create('replicasets.apps', object('r', 'default', { ownerReferences }));
    await using running = managerOf(scene);
    const done = new Reconciliations();
    async function* ticks(): AsyncGenerator<string> {
      yield 'its map throws';
      yield 'default/tick';
      await new Promise(() => undefined);
    }
    running.manager
      .controllerFor(deployments)
      .owns(replicaSets, { everyOwner: true })
      .from(ticks(), (key) => {
        if (!key.includes('/')) throw new Error(key);
        return [key];
      })
      .reconcile(done.reconcile);
    void running.run();
    await done.count(3);
    assert.deepEqual(done.keys.toSorted(), ['default/tick', 'default/x', 'default/y']);
    await running.end();
  });

  it('C315 finds the result of a write whose answer was lost before the key is reconciled again', async () => {
    await using scene = await Scene.start();
    await scene.create('deployments.apps', object('a'));
    // The server has written, and says that it gave up waiting. Its watches are slow: they tell when the client has looked.
    let lost = 1;
    const held: (() => void)[] = [];
    const proxy = createServer((down, answer) => {
      const { method, headers, url: path } = down;
      const up = request(`${scene.server.url}${path}`, { method, headers, agent: false }, (got) => {
        const isLost = method === 'POST' && lost-- > 0;
        answer.writeHead(isLost ? 504 : (got.statusCode ?? 0), got.headers);
        if (path?.includes('limit=1')) for (const write of held.splice(0)) write();
        const forward = (bytes: Buffer): unknown =>
          lost === 0 ? held.push(() => answer.write(bytes)) : answer.write(bytes);
        if (path?.includes('watch=')) got.on('data', forward);
        else got.pipe(answer);
      });
      answer.on('close', () => up.destroy());
      down.pipe(up);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const { token } = scene.server;
    const manager = new Manager({ server: `http://127.0.0.1:${port}`, token }, { cache: scene.options({}) });
    const seen: number[] = [];
    const codes: unknown[] = [];
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'main', image: 'main:1' }] },
    };
    const done = new Reconciliations(async (_key, { cache, client }) => {
      seen.push(cache.list(replicaSets).items.length);
      const made = {
        metadata: { name: 'made', namespace: 'default' },
        spec: { selector: { matchLabels: { a: 'b' } }, template },
      };
      if (seen.length === 1) await client.create(replicaSets, made);
    });
    manager
      .controllerFor(deployments, { onError: (error) => codes.push((error as { code?: string }).code) })
      .owns(replicaSets)
      .reconcile(done.reconcile);
    const stop = new AbortController();
    const run = manager.run({ signal: stop.signal });
    await done.count(2);
    stop.abort();
    await run;
    proxy.closeAllConnections();
    proxy.close();
    assert.deepEqual([seen, codes], [[0, 1], ['ERR_KUBELOOM_WRITE_UNCONFIRMED']]);
  });

  it('reconciles every object once, when the caches of all its kinds are filled', async () => {
    await using scene = await Scene.start();
    await scene.create('deployments.apps', object('a'), object('b'));
    await scene.create('replicasets.apps', object('r', 'default', ownedBy('a')));
    await using running = managerOf(scene);
    const read: unknown[] = [];
    const done = new Reconciliations((key, { cache }) => {
      read.push([key, cache.get(deployments, key)?.name, cache.list(replicaSets).items.length]);
    });
    running.manager.controllerFor(deployments).owns(replicaSets).reconcile(done.reconcile);
    void running.run();
    await done.count(2);
    assert.deepEqual(read, [
      ['default/a', 'a', 1],
      ['default/b', 'b', 1],
    ]);
  });

  it('reconciles a changed object before the objects of the initial list', async () => {
    await using running = await managerWith(['a', 'b', 'c', 'z']);
    using gate = new Gate();
    const done = running.reconciles({}, () => gate.opened);
    void running.run();
    await done.count(1);
    await running.scene.put('deployments.apps', object('z', 'default', { labels: { changed: 'yes' } }));
    await settled(running.manager.cache);
    gate.open();
    await done.count(4);
    assert.deepEqual(done.keys, ['default/a', 'default/z', 'default/b', 'default/c']);
  });

  it('reconciles a key once for all changes during its reconciliation, and never twice at the same time', async () => {
    await using running = await managerWith(['a']);
    using gate = new Gate();
    let inWork = 0;
    const done = running.reconciles({ concurrency: 3 }, async () => {
      assert.equal(++inWork, 1);
      await gate.opened;
      inWork--;
    });
    void running.run();
    await done.count(1);
    for (const value of ['1', '2', '3']) {
      await running.scene.put('deployments.apps', object('a', 'default', { labels: { value } }));
    }
    await settled(running.manager.cache);
    gate.open();
    await done.count(2);
    await settled(running.manager.cache);
    await turns();
    assert.deepEqual(done.keys, ['default/a', 'default/a']);
  });

  it('reconciles as many keys at the same time as its concurrency', async () => {
    await using running = await managerWith(['a', 'b', 'c']);
    using gate = new Gate();
    const done = running.reconciles({ concurrency: 2 }, () => gate.opened);
    void running.run();
    await done.count(2);
    await turns();
    assert.equal(done.keys.length, 2);
    gate.open();
    await done.count(3);
  });

  it('reconciles owners for objects that it owns, and mapped keys for others, as their predicates allow', async () => {
    await using running = await managerWith([]);
    const { scene } = running;
    const done = new Reconciliations();
    const keysOf = ({ object: { data = {} } }: { readonly object: { readonly data?: object } }): string[] =>
      Object.keys(data).map((name) => `default/${name}`);
    running.manager
      .controllerFor(deployments, { predicate: generationChanged })
      .owns(replicaSets, { predicate: ({ type }) => type !== 'delete' })
      .watches(configMaps, keysOf, { predicate: ({ object: { name } }) => name === 'wanted' })
      .reconcile(done.reconcile);
    void running.run();
    await scene.create('deployments.apps', object('a'));
    await done.count(1);
    await scene.put('deployments.apps', object('a', 'default', { labels: { not: 'the-spec' } }));
    await scene.create('replicasets.apps', object('r', 'default', ownedBy('b')));
    await done.count(2);
    await scene.create('replicasets.apps', object('free'));
    await scene.remove('replicasets.apps', 'default', 'r');
    const data = { 'x.y': '1', z: '1' };
    for (const name of ['unwanted', 'wanted']) {
      await scene.create('configmaps', { metadata: { name, namespace: 'default' }, data });
    }
    await done.count(4);
    assert.deepEqual(done.keys, ['default/a', 'default/b', 'default/x.y', 'default/z']);
  });

  it('tries a failed key again with growing delays until it succeeds, and reports every failure', async () => {
    const clock = new FakeClock();
    await using running = await managerWith(['a'], { clock });
    const failures: unknown[] = [];
    const done = new Reconciliations(() => {
      if (done.keys.length < 4 && done.keys.length !== 3) throw new Error(`failure ${done.keys.length}`);
    });
    const declaration = running.manager.controllerFor(deployments, {
      rateLimiter: new ItemExponentialFailureRateLimiter<unknown>(10, 1000),
      onError: (error, key, retries) => failures.push([(error as Error).message, key, retries]),
    });
    declaration.reconcile(done.reconcile);
    void running.run();
    for (const calls of [1, 2]) {
      await done.count(calls);
      await turns();
      clock.advance(10 * calls - 1);
      await turns();
      assert.equal(done.keys.length, calls);
      clock.advance(1);
    }
    await done.count(3);
    assert.deepEqual(failures, [
      ['failure 1', 'default/a', 0],
      ['failure 2', 'default/a', 1],
    ]);
  });
});

describe('a reconciliation', () => {
  const match = { verb: 'watch', resource: 'pods' } as const;
  const MUTE = { faultId: 'm', match, action: { type: 'mute' } } as const;

  it('begins when the cache has the writes of the previous reconciliation, or after 10 s without them', async () => {
    const clock = new FakeClock();
    await using scene = await Scene.start();
    await scene.create('pods', object('a'));
    await using running = managerOf(scene, { clock });
    const cached: unknown[] = [];
    const done = running.reconciles({ kind: pods }, async (key, { client, cache }) => {
      cached.push(cache.get(pods, key)?.labels['run']);
      const run = String(done.keys.length);
      if (run === '3') return undefined;
      await scene.server.setFaults({ rules: [MUTE] });
      await client.patch(pods, key, { metadata: { labels: { run } } });
      return { requeueAfterMs: 1 };
    });
    void running.run();
    await done.count(1);
    while ((await scene.server.revision()) < 2) await turns();
    await turns();
    clock.advance(1);
    await turns();
    assert.equal(done.keys.length, 1);
    await scene.server.healFaults();
    await done.count(2);
    await clock.waitForTimers(1);
    while (done.keys.length < 3) {
      await turns();
      clock.advance(10_000);
    }
    assert.deepEqual(cached, [undefined, '1', '1']);
  });
});
