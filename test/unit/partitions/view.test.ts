/** The view of a partition: the same objects and keys, whatever the server filters. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resources } from '../../../src/index.ts';
import { GroupScene, PARTITIONS, pods } from './scene.ts';

const { configMaps } = resources.core.v1;

describe('the view of a partition', () => {
  for (const sharding of ['echoes', 'filters', 'ignores'] as const) {
    test(`C302 has an object that is made again under its name in its new partition only, on a server that ${sharding}`, async () => {
      await using scene = await GroupScene.start(sharding);
      await scene.createPod('pod-again', 0);
      const seen: string[] = [];
      const of = (identity: string): Parameters<GroupScene['join']>[1] => ({
        declare: ({ partition, controllerFor }) =>
          controllerFor(pods).reconcile((key, { cache }) => {
            const found = cache.get(pods, key);
            const listed = cache.list(pods, {}).items.length;
            seen.push(`${identity} ${partition} ${found ? 'has' : 'lacks'} it, of ${listed}`);
            return { requeueAfterMs: 1000 };
          }),
      });
      const a = scene.join('a', of('a'));
      const b = scene.join('b', of('b'));
      await scene.pass(() => a.partitionCount + b.partitionCount === PARTITIONS && seen.length > 0);
      const isOfA = seen[0]?.startsWith('a 0') === true;
      const next = (isOfA ? b : a).manager.owned[0] ?? 0;
      await scene.client.delete(pods, 'default/pod-again');
      await scene.createPod('pod-again', next);
      await scene.pass(() => seen.some((line) => line.includes(`${next} has it, of 1`)));
      await scene.pass(() => seen.filter((line) => line.includes(`${next} has`)).length >= 2);
      seen.length = 0;
      await scene.pass(() => seen.filter((line) => line.includes(`${next} has`)).length >= 10);
      const others = seen.filter((line) => !line.includes(` ${next} has it, of 1`));
      for (const line of others) assert.match(line, / 0 lacks it, of 0/);
    });

    test(`C303 drops keys of other partitions, and reports one, on a server that ${sharding}`, async () => {
      await using scene = await GroupScene.start(sharding);
      const namespaces = [...'abcdef'].map((name) => `${name}-team`);
      for (const name of namespaces)
        await scene.server.apply([
          { type: 'create', resource: 'namespaces', object: { metadata: { name } } },
          { type: 'create', resource: 'configmaps', object: { metadata: { name: 'x', namespace: name } } },
        ]);
      const queued = new Map<string, number>();
      scene.join('a', {
        key: 'namespace',
        declare: ({ partition, controllerFor }) =>
          controllerFor(pods)
            .watches(configMaps, ({ namespace }) => [`${namespace}/own`, 'a-team/other'])
            .reconcile((key) => void queued.set(key, partition)),
      });
      await scene.pass(() => queued.size === namespaces.length + 1);
      await scene.until(() => scene.errors.length > 0);
      assert.equal(queued.get('a-team/other'), queued.get('a-team/own'));
      for (const { code } of scene.errors) assert.equal(code, 'ERR_KUBELOOM_PARTITION');
    });
  }

  test('C303 refuses a namespaced kind of a cluster-scoped controller with the key namespace, under any name', async () => {
    await using scene = await GroupScene.start('ignores');
    for (const kind of [pods, 'pods'] as const) {
      const member = scene.join(typeof kind === 'string' ? 'a' : 'b', {
        key: 'namespace',
        declare: ({ controllerFor }) =>
          controllerFor(resources.core.v1.nodes)
            .watches(kind, () => [])
            .reconcile(() => undefined),
      });
      await scene.refuses(member.run, { code: 'ERR_KUBELOOM_PARTITION' });
    }
  });
});
