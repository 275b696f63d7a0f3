/** Controllers whose keys members share, on servers that filter and say so, that filter only, and that ignore the selector. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PartitionedManager } from '../../../src/partitions/index.ts';
import type { Reconcile } from '../../../src/controller/index.ts';
import type { PartitionedManagerOptions } from '../../../src/partitions/index.ts';
import { resources } from '../../../src/index.ts';
import { RecordingLogger } from '../../kit/recording-logger.ts';
import { failRequests } from '../tools/apiserver/fail-requests.ts';
import { Gate } from '../informer/scene.ts';
import { GroupScene, PARTITIONS, pods, turn } from './scene.ts';
import type { Member } from './scene.ts';

const { configMaps } = resources.core.v1;
const KEYS = Array.from({ length: PARTITIONS }, (_, partition) => `default/pod-${partition}`);

type Declare = Pick<PartitionedManagerOptions, 'declare'>;

/** One controller of pods, with a line for each reconciliation: `a 2 default/pod-2`. */
function podsOf(identity: string, lines: string[], work: Reconcile = () => undefined): Declare {
  return {
    declare: ({ partition, controllerFor }) =>
      controllerFor(pods).reconcile((key, context) => {
        lines.push(`${identity} ${partition} ${key}`);
        return work(key, context);
      }),
  };
}

/** Returns a scene with one pod in each partition. */
async function withPods(sharding: Parameters<typeof GroupScene.start>[0]): Promise<GroupScene> {
  const scene = await GroupScene.start(sharding);
  for (let partition = 0; partition < PARTITIONS; partition++)
    await scene.createPod(`pod-${partition}`, partition);
  return scene;
}

/** Joins `a`, and waits until it has reconciled each pod. */
async function served(scene: GroupScene): Promise<{ readonly a: Member; readonly lines: string[] }> {
  const lines: string[] = [];
  const a = scene.join('a', podsOf('a', lines));
  await scene.until(() => lines.length === PARTITIONS);
  return { a, lines };
}

for (const sharding of ['echoes', 'filters', 'ignores'] as const) {
  describe(`a partitioned manager on a server that ${sharding} shard selectors`, () => {
    test('C229 reconciles every key in its partition, and another member has the partitions that it gets', async () => {
      await using scene = await withPods(sharding);
      const { a, lines } = await served(scene);
      assert.deepEqual(
        lines.toSorted(),
        KEYS.map((key, partition) => `a ${partition} ${key}`),
      );
      const b = scene.join('b', podsOf('b', lines));
      await scene.until(() => a.partitionCount === PARTITIONS / 2 && b.partitionCount === PARTITIONS / 2);
      const moved = b.manager.owned;
      // In common caches, an event is what shows that they are no older than the hand-over.
      for (const key of KEYS) await scene.changePod(key.slice('default/'.length));
      await scene.until(() =>
        moved.every((partition) => lines.includes(`b ${partition} ${KEYS[partition]}`)),
      );
      assert.ok(
        lines.every((line) => KEYS[Number(line.split(' ')[1])] === line.split(' ')[2]),
        String(lines),
      );
      await scene.changePod('pod-0');
      lines.length = 0;
      const leaving = a.leave();
      await scene.until(() => b.partitionCount === PARTITIONS);
      await leaving;
      for (const key of KEYS) await scene.changePod(key.slice('default/'.length));
      await scene.until(() => KEYS.every((key, partition) => lines.includes(`b ${partition} ${key}`)));
      assert.deepEqual(scene.errors, []);
    });

    test('C234 has one watch a partition where the server confirms that it filters, and else one for all', async () => {
      await using scene = await withPods(sharding);
      await served(scene);
      const watches = (await scene.server.watches()).filter(({ path }) => path.endsWith('/pods'));
      assert.equal(watches.length, sharding === 'echoes' ? PARTITIONS : 1);
    });
  });
}

describe('a partitioned manager', () => {
  test('writes the lines of its controllers to the log, with the id of each reconciliation', async () => {
    await using scene = await withPods('echoes');
    const log = new RecordingLogger();
    scene.join('a', { ...podsOf('a', []), log });
    const done = (): number => log.lines.filter((line) => line === 'debug reconciled').length;
    await scene.until(() => done() === PARTITIONS);
    const ids = log.fields.flatMap(({ reconcileID }) => (reconcileID === undefined ? [] : [reconcileID]));
    assert.equal(new Set(ids).size, PARTITIONS);
    const { controller, workers } = log.fields[log.lines.indexOf('info starting controller')] ?? {};
    assert.match(`${String(controller)} ${String(workers)}`, /^pods \(partition \d\) 1$/);
  });

  test('C228 hands a partition over when the reconciliation in progress has ended, whose signal is not aborted', async () => {
    await using scene = await withPods('echoes');
    using gate = new Gate();
    const lines: string[] = [];
    const a = scene.join(
      'a',
      podsOf('a', lines, async (_key, { signal }) => {
        await gate.opened;
        lines.push(`a ended${signal.aborted ? ', aborted' : ''}`);
      }),
    );
    await scene.until(() => lines.length === PARTITIONS);
    const b = scene.join('b', podsOf('b', lines));
    for (let turns = 0; turns < 50; turns++) await turn();
    assert.deepEqual([a.partitionCount, b.partitionCount], [PARTITIONS, 0]);
    gate.open();
    await scene.until(
      () => b.partitionCount === PARTITIONS / 2 && lines.filter((line) => line.startsWith('b')).length === 2,
    );
    assert.ok(!lines.includes('a ended, aborted'));
  });

  test('C301 aborts a reconciliation that has not ended in time, and then gives its partition to another member', async () => {
    await using scene = await withPods('echoes');
    using gate = new Gate();
    const aborted: string[] = [];
    let begun = 0;
    const a = scene.join('a', {
      drainTimeoutMs: 1500,
      ...podsOf('a', [], async (key, { signal }) => {
        begun++;
        signal.addEventListener('abort', () => aborted.push(key));
        await gate.opened;
      }),
    });
    await scene.until(() => begun === PARTITIONS);
    const lines: string[] = [];
    const b = scene.join('b', podsOf('b', lines));
    await scene.pass(() => aborted.length === 1);
    assert.deepEqual([a.partitionCount, b.partitionCount], [PARTITIONS, 0]);
    await scene.pass(() => lines.length === PARTITIONS / 2);
    assert.equal(a.partitionCount, PARTITIONS / 2);
    assert.ok(scene.errors.every(({ code }) => code === 'ERR_KUBELOOM_STILL_RUNNING'));
    gate.open();
  });

  test('C229 begins with a partition that comes later when its common caches are no older than the hand-over', async () => {
    await using scene = await withPods('ignores');
    const { a, lines } = await served(scene);
    const versions: number[] = [];
    const work: Reconcile = (_key, { cache }) =>
      void versions.push(Number(cache.informers[0]?.lastSyncResourceVersion()));
    const b = scene.join('b', podsOf('b', lines, work));
    await scene.until(() => a.partitionCount === PARTITIONS / 2 && b.partitionCount === PARTITIONS / 2);
    for (const key of KEYS) await scene.changePod(key.slice('default/'.length));
    await scene.until(() => new Set(lines.filter((line) => line.startsWith('b'))).size === PARTITIONS / 2);
    // No watch of pods carries this change, so only a bookmark shows its version.
    const object = { metadata: { name: 'a', namespace: 'default' } };
    await scene.server.apply([{ type: 'create', resource: 'configmaps', object }]);
    const revision = await scene.server.revision();
    await scene.server.clearRequests();
    versions.length = 0;
    await a.leave();
    const isAsking = async (): Promise<boolean> =>
      (await scene.server.requests()).some(
        ({ query, path }) => path.endsWith('/pods') && query['limit'] === '1',
      );
    while (versions.length === 0 && !(await isAsking())) await turn();
    for (; versions.length < PARTITIONS / 2; await turn()) await scene.server.sendBookmarks();
    assert.ok(
      versions.every((version) => version >= revision),
      `${versions.join(', ')} are older than ${revision}`,
    );
  });

  test('C231 tells a new owner nothing of a deletion while the partition had no owner, unless a finalizer keeps the object', async () => {
    await using scene = await withPods('echoes');
    const finalizers = ['example.com/cleanup'];
    await scene.client.patch(pods, 'default/pod-1', { metadata: { finalizers } });
    await (await served(scene)).a.leave();
    for (const key of ['default/pod-0', 'default/pod-1']) await scene.client.delete(pods, key);
    const lines: string[] = [];
    const deleted: string[] = [];
    const work: Reconcile = (key, { cache }) =>
      void (cache.get(pods, key)?.deletionTimestamp === undefined || deleted.push(key));
    scene.join('b', podsOf('b', lines, work));
    await scene.until(() => lines.length === PARTITIONS - 1);
    assert.deepEqual(lines.toSorted(), ['b 1 default/pod-1', 'b 2 default/pod-2', 'b 3 default/pod-3']);
    assert.deepEqual(deleted, ['default/pod-1']);
    await scene.client.patch(pods, 'default/pod-1', { metadata: { finalizers: null } });
  });

  test('gives a partition back whose controllers cannot be declared, and takes it again after a pause', async () => {
    await using scene = await withPods('echoes');
    const lines: string[] = [];
    let isBroken = true;
    const { declare } = podsOf('a', lines);
    scene.join('a', {
      declare: (controllers) => {
        if (isBroken) throw new Error('broken');
        declare(controllers);
      },
    });
    await scene.until(() => scene.errors.length === PARTITIONS);
    assert.match(scene.errors[0]?.message ?? '', /broken/);
    isBroken = false;
    await scene.until(() => scene.clock.nextDelayMs !== undefined);
    while (lines.length < PARTITIONS) {
      scene.clock.advance(100);
      await turn();
    }
  });

  test('C301 lets another member serve the partitions whose controllers one cannot declare', async () => {
    await using scene = await withPods('echoes');
    const attempts: number[] = [];
    scene.join('broken', {
      declare: ({ partition }) => {
        attempts.push(partition);
        throw new Error('broken');
      },
    });
    await scene.pass(() => attempts.length >= PARTITIONS);
    const lines: string[] = [];
    const b = scene.join('b', podsOf('b', lines));
    await scene.pass(() => b.partitionCount === PARTITIONS && lines.length >= PARTITIONS);
    const before = attempts.length;
    for (let passedMs = 0; passedMs < 60_000; passedMs += 100) {
      await turn();
      scene.clock.advance(100);
    }
    assert.equal(attempts.length, before);
    assert.equal(b.partitionCount, PARTITIONS);
  });

  test('C301 rejects with the keys whose reconciliations have not ended in time after the stop', async () => {
    await using scene = await withPods('echoes');
    using gate = new Gate();
    const lines: string[] = [];
    const options = {
      ...podsOf('a', lines, () => gate.opened.then(() => undefined)),
      shutdownTimeoutMs: 5000,
    };
    const a = scene.join('a', options);
    await scene.until(() => lines.length === PARTITIONS);
    await scene.refuses(a.leave(), { code: 'ERR_KUBELOOM_STILL_RUNNING', message: /default\/pod-3/ });
    gate.open();
  });

  test('releases the caches that are filled when others are not, and the partition is given back', async () => {
    await using scene = await GroupScene.start('ignores');
    await failRequests(scene.server, 'hang', 'always', { resource: 'configmaps' });
    const watches = async (): Promise<number> =>
      (await scene.server.watches()).filter(({ path }) => path.endsWith('/pods')).length;
    scene.join('a', {
      key: 'namespace',
      cacheSyncTimeoutMs: 1000,
      declare: ({ controllerFor }) =>
        controllerFor(pods)
          .watches(configMaps, () => [])
          .reconcile(() => undefined),
    });
    for (; (await watches()) === 0; await turn()) scene.clock.advance(10);
    while (scene.errors.length < PARTITIONS) {
      scene.clock.advance(100);
      await turn();
    }
    assert.ok(
      scene.errors.every(({ message }) => message.includes('not synced: SharedIndexInformer configmaps')),
    );
    while ((await watches()) > 0) await turn();
  });

  test('C228 has all objects of a namespace in one partition, and follows cluster-scoped kinds in every partition', async () => {
    await using scene = await GroupScene.start('echoes');
    const objects = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => ({
      metadata: { name, namespace: `${name}-team` },
    }));
    for (const object of objects) {
      await scene.server.apply([
        { type: 'create', resource: 'namespaces', object: { metadata: { name: object.metadata.namespace } } },
        { type: 'create', resource: 'configmaps', object },
        { type: 'create', resource: 'pods', object },
      ]);
    }
    const partitionsOf = new Map<string, Set<number>>();
    const nodes = new Set<number>();
    scene.join('a', {
      key: 'namespace',
      declare: ({ partition, cache, controllerFor }) =>
        controllerFor(configMaps)
          .watches('pods', ({ key }) => [key, 'elsewhere/x', 'a-team/a'])
          .watches('namespaces', () => [])
          .reconcile((key) => {
            partitionsOf.set(key, (partitionsOf.get(key) ?? new Set()).add(partition));
            if (cache.list('namespaces').items.length >= objects.length) nodes.add(partition);
          }),
    });
    await scene.until(() =>
      objects.every(({ metadata }) => partitionsOf.has(`${metadata.namespace}/${metadata.name}`)),
    );
    assert.ok(
      [...partitionsOf.values()].every((partitions) => partitions.size === 1),
      'a key is in one partition',
    );
    assert.deepEqual(nodes, new Set([...partitionsOf.values()].flatMap((partitions) => [...partitions])));
    assert.ok(nodes.size > 1, 'the namespaces are in more than one partition');
  });

  test('refuses a second kind with the key uid, whose objects have other partitions', async () => {
    await using scene = await GroupScene.start('echoes');
    const { run } = scene.join('a', {
      declare: ({ controllerFor }) =>
        controllerFor(pods)
          .owns(configMaps)
          .reconcile(() => undefined),
    });
    await scene.refuses(run, { code: 'ERR_KUBELOOM_OPTION', message: /use the key 'namespace'/ });
  });

  test('refuses a module, whose client is not that of the partition', async () => {
    await using scene = await GroupScene.start('echoes');
    const { run } = scene.join('a', {
      declare: ({ controllerFor }) => controllerFor(pods).reconcile(new URL('file:///reconcile.js')),
    });
    await scene.refuses(run, { code: 'ERR_KUBELOOM_OPTION', message: /give a function/ });
  });

  test('refuses wrong options', () => {
    const right = { name: 'web', namespace: 'default', key: 'uid', declare: () => undefined } as const;
    const names = [{ name: undefined }, { name: 'Web' }, { namespace: '' }, { identity: 'host_1' }];
    const counts = [{ partitions: 0 }, { partitions: 257 }, { leaseDurationMs: 9000 }];
    const keys = [{ key: undefined }, { key: 'name' }, { declare: undefined }];
    const caches = [{ threads: {} }, { cache: { shardSelector: {} } }, { cache: { nope: 1 } }];
    const wrong: readonly object[] = [...names, ...counts, ...keys, ...caches];
    for (const change of wrong) {
      const make = (): unknown =>
        new PartitionedManager({ server: 'http://127.0.0.1:1' }, { ...right, ...change });
      assert.throws(make, { code: 'ERR_KUBELOOM_OPTION' }, JSON.stringify(change));
    }
  });
});
