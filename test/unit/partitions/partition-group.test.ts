/** A group of partitions on leases that an informer follows: who may join, what is refused, and what is cleaned up. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PartitionGroup } from '../../../src/partitions/index.ts';
import type { PartitionGroupOptions, WorkOnPartition } from '../../../src/partitions/index.ts';
import { collectMetrics, resources } from '../../../src/index.ts';
import { MetricsReading } from '../../../src/base/metrics/reading.ts';
import { GroupScene, PARTITIONS, turn } from './scene.ts';

const { leases } = resources.coordination.v1;
const MEMBER = { namespace: 'default', name: 'web-member-a' };

/** Works until the partition is handed over. */
const idle: WorkOnPartition = async ({ drainSignal, synced }) => {
  synced();
  await new Promise((resolve) => drainSignal.addEventListener('abort', resolve));
};

interface Running extends AsyncDisposable {
  readonly group: PartitionGroup;
  readonly run: Promise<void>;
  leave(): Promise<void>;
}

function join(
  scene: GroupScene,
  options: Partial<PartitionGroupOptions> = {},
  work: WorkOnPartition = idle,
): Running {
  const { clock, threads, errors } = scene;
  const defaults = {
    name: 'web',
    namespace: 'default',
    identity: 'a',
    partitions: PARTITIONS,
    clock,
    threads,
  };
  const onError: PartitionGroupOptions['onError'] = (error) => errors.push(error);
  const group = new PartitionGroup(scene.server.connection, { ...defaults, onError, ...options });
  const stop = new AbortController();
  const run = group.run(stop.signal, work);
  const leave = (): Promise<void> => {
    stop.abort();
    return run;
  };
  return { group, run, leave, [Symbol.asyncDispose]: () => leave().catch(() => undefined) };
}

describe('a group of partitions', () => {
  test('C230 counts an epoch for each work on a partition, also when one member has it twice', async () => {
    await using scene = await GroupScene.start('echoes');
    const epochs: number[] = [];
    let ended = 0;
    const work: WorkOnPartition = async (tenure) => {
      epochs.push(tenure.epoch);
      await idle(tenure);
      ended++;
    };
    for (let times = 1; times <= 2; times++) {
      await using once = join(scene, { partitions: 1 }, work);
      await scene.until(() => epochs.length === times);
      await once.leave();
    }
    await using _member = join(scene, { partitions: 1 }, work);
    await scene.until(() => epochs.length === 3);
    // As after a suspension: the member loses its partition, and takes its own lease, which it has not released.
    scene.clock.advance(20_000);
    await scene.until(() => ended === 3);
    for (let turns = 0; turns < 10; turns++) await turn();
    scene.clock.advance(2000);
    await scene.until(() => epochs.length === 4);
    assert.deepEqual(epochs, [0, 1, 2, 3]);
    assert.ok(scene.errors.some(({ code }) => code === 'ERR_KUBELOOM_LEADER_LOST'));
  });

  test('C228 refuses a member that divides keys differently from one that runs', async () => {
    await using scene = await GroupScene.start('echoes');
    await using first = join(scene);
    await scene.until(() => first.group.owned.length === PARTITIONS);
    for (const partitions of [1, 16]) {
      await using other = join(scene, { identity: 'b', partitions });
      await assert.rejects(other.run, { code: 'ERR_KUBELOOM_OPTION', message: /stop all members/ });
    }
    await first.leave();
    await using after = join(scene, { identity: 'b', partitions: 1 });
    await scene.until(() => after.group.owned.length === 1);
  });

  test('deletes the heartbeat lease of a member that is long gone', async () => {
    await using scene = await GroupScene.start('echoes');
    await using gone = join(scene);
    await scene.until(() => gone.group.owned.length === PARTITIONS);
    await gone.leave();
    const { holderIdentity } = (await scene.client.get(leases, MEMBER)).spec ?? {};
    assert.equal(holderIdentity ?? '', '');
    await using member = join(scene, { identity: 'b' });
    await scene.until(() => member.group.owned.length === PARTITIONS);
    scene.clock.advance(20 * 15_000);
    const isGone = async (): Promise<boolean> => {
      await turn();
      return scene.client.get(leases, MEMBER).then(
        () => false,
        ({ code }: { code?: string }) => code === 'ERR_KUBELOOM_NOT_FOUND',
      );
    };
    while (!(await isGone())) await turn();
  });

  test('has metrics of its partitions while it runs', async () => {
    await using scene = await GroupScene.start('echoes');
    await using member = join(scene);
    await scene.until(() => member.group.owned.length === PARTITIONS);
    const match = { name: 'default/web' };
    const reading = new MetricsReading(collectMetrics());
    assert.equal(reading.sum('kubeloom_partitions_owned', match), PARTITIONS);
    assert.equal(reading.sum('kubeloom_partition_changes_total', { ...match, change: 'taken' }), PARTITIONS);
    const synced = reading.histogram('kubeloom_partition_sync_seconds', match);
    assert.equal(
      synced?.counts.reduce((sum, count) => sum + count),
      PARTITIONS,
    );
    await member.leave();
    assert.equal(new MetricsReading(collectMetrics()).sum('kubeloom_partitions_owned', match), undefined);
  });

  test('runs once, and ends at once when it is stopped before', async () => {
    await using scene = await GroupScene.start('echoes');
    await using member = join(scene);
    await assert.rejects(member.group.run(new AbortController().signal, idle), {
      code: 'ERR_KUBELOOM_STARTED',
    });
    await member.leave();
    const group = new PartitionGroup(scene.server.connection, { name: 'web', namespace: 'default' });
    await group.run(AbortSignal.abort(), idle);
    assert.deepEqual(group.owned, []);
  });

  test('rejects with the error of its informer when that has ended by itself', async () => {
    await using scene = await GroupScene.start('echoes');
    await using member = join(scene);
    await scene.until(() => member.group.owned.length === PARTITIONS);
    const rejected = assert.rejects(member.run, { code: 'ERR_KUBELOOM_STOPPED' });
    await scene.threads.close();
    await rejected;
    assert.deepEqual(member.group.owned, []);
  });

  test('refuses wrong options', () => {
    const make = (change: object): PartitionGroup =>
      new PartitionGroup({ server: 'http://127.0.0.1:1' }, { name: 'web', namespace: 'default', ...change });
    for (const change of [
      { name: 'a_b' },
      { identity: '' },
      { partitions: 1.5 },
      { coverAfterMs: -1 },
      { work: 1 },
    ])
      assert.throws(() => make(change), { code: 'ERR_KUBELOOM_OPTION' }, JSON.stringify(change));
    assert.match(make({}).identity, /^[a-z0-9-]+$/);
  });
});
