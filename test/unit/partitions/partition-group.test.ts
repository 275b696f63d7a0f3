/** A group of partitions on leases that an informer follows: who may join, what is refused, and what is cleaned up. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PartitionGroup } from '../../../src/partitions/index.ts';
import type { PartitionGroupOptions, Tenure, WorkOnPartition } from '../../../src/partitions/index.ts';
import { collectMetrics } from '../../../src/metrics/index.ts';
import { InformerThreads, KubeloomError, resources } from '../../../src/index.ts';
import type { WireOf } from '../../../src/index.ts';
import { MetricsReading } from '../../../src/tools/cli/top/reading.ts';
import { failRequests } from '../tools/apiserver/fail-requests.ts';
import { GroupScene, PARTITIONS, turn } from './scene.ts';

const { leases } = resources.coordination.v1;
type ReadLease = WireOf<'coordination', 'v1', 'Lease'>;
const NAME = { name: 'web', namespace: 'default' };

/** Returns the leases of the group by name. */
async function leasesOf({ client }: GroupScene): Promise<ReadonlyMap<string, ReadLease>> {
  const found = new Map<string, ReadLease>();
  for await (const { items } of client.list(leases, { namespace: 'default' }))
    for (const lease of items) found.set(lease.metadata?.name ?? '', lease);
  return found;
}

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
  const defaults = { ...NAME, identity: 'a', partitions: PARTITIONS, clock, threads };
  const onError: PartitionGroupOptions['onError'] = (error) => errors.push(error);
  const group = new PartitionGroup(scene.server.connection, { ...defaults, onError, ...options });
  const stop = new AbortController();
  const run = group.run({ signal: stop.signal }, work);
  const leave = (): Promise<void> => {
    stop.abort();
    return run;
  };
  return { group, run, leave, [Symbol.asyncDispose]: () => leave().catch(() => undefined) };
}

/** Joins, and waits until the member owns all partitions. */
async function joined(scene: GroupScene, options: Partial<PartitionGroupOptions> = {}): Promise<Running> {
  const running = join(scene, options);
  await scene.until(() => running.group.owned.length === (options.partitions ?? PARTITIONS));
  return running;
}

/** client-go's pauses before an eighth try add up to more than this. */
const OUTAGE_MAX_MS = 60_000;
/** A streaming list and a list for each of eight tries. */
const FAILURES = 16;

describe('a group of partitions', () => {
  test('C233 asks for the Leases of the group as often as it renews its own, however often the server has failed', async () => {
    await using scene = await GroupScene.start('echoes');
    await failRequests(scene.server, 500, FAILURES, { method: 'GET', resource: 'leases' });
    await using threads = new InformerThreads({ indexerThreads: 0 }, { clock: scene.clock });
    await using _member = join(scene, { threads, retryPeriodMs: 2000 });
    const startMs = scene.clock.now();
    while ((await scene.server.landedFaults()).length < FAILURES) {
      for (let turns = 0; turns < 5; turns++) await turn();
      scene.clock.advance(100);
      assert.ok(scene.clock.now() - startMs < OUTAGE_MAX_MS);
    }
  });

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
    // As after a suspension: the life of the member is over, and its next one takes the partition, which was not released.
    scene.clock.advance(20_000);
    await scene.until(() => ended === 3);
    for (let turns = 0; turns < 10; turns++) await turn();
    scene.clock.advance(2000);
    await scene.until(() => epochs.length === 4);
    assert.deepEqual(epochs, [0, 1, 2, 3]);
    assert.ok(scene.errors.some(({ code }) => code === 'ERR_KUBELOOM_LEADER_LOST'));
  });

  test('C228 begins no life under a name whose heartbeat was not written before its deadline', async () => {
    await using scene = await GroupScene.start('echoes');
    const { clock, server, errors } = scene;
    await failRequests(server, 'reset', 'always', { method: 'POST' });
    await using member = join(scene);
    const startMs = clock.now();
    await scene.pass(() => clock.now() - startMs > 12_000);
    assert.ok(errors.length > 0);
    await server.healFaults();
    await scene.pass(() => member.group.owned.length === PARTITIONS);
    const names = [...(await leasesOf(scene)).keys()].filter((name) => name.startsWith('web-member-'));
    assert.match(names.join(), /^web-member-a\.\w+\.2$/);
  });

  test('C460 begins the next life when another program has emptied its heartbeat, and leaves the emptied one alone for a lease', async () => {
    await using scene = await GroupScene.start('echoes');
    await using member = await joined(scene);
    const [name = ''] = [...(await leasesOf(scene)).keys()].filter((each) => each.startsWith('web-member-'));
    await scene.client.patch(leases, { namespace: 'default', name }, { spec: { holderIdentity: '' } });
    const startMs = scene.clock.now();
    const isOver = (lease: ReadLease | undefined): boolean =>
      lease?.metadata?.annotations?.['kubeloom.dev/note']?.includes('"isOver":true') === true;
    await scene.pass(() => scene.errors.length > 0 && member.group.owned.length === PARTITIONS);
    assert.match([...(await leasesOf(scene)).keys()].join(), /web-member-a\.\w+\.2/);
    assert.ok(!isOver((await leasesOf(scene)).get(name)));
    await scene.pass(() => scene.clock.now() - startMs > 20_000);
    for (let turns = 0; turns < 100; turns++) await turn();
    assert.ok(isOver((await leasesOf(scene)).get(name)));
  });

  test('C300 refuses a member that divides keys differently from an older one that runs', async () => {
    await using scene = await GroupScene.start('echoes');
    await using first = await joined(scene);
    for (const partitions of [1, 16]) {
      await using other = join(scene, { identity: 'b', partitions });
      await scene.refuses(other.run, { code: 'ERR_KUBELOOM_OPTION', message: /stop all members/ });
      assert.deepEqual(other.group.owned, []);
      assert.equal(first.group.owned.length, PARTITIONS);
    }
    await first.leave();
    await using _after = await joined(scene, { identity: 'b', partitions: 1 });
  });

  test('deletes the heartbeat lease of a member that is long gone', async () => {
    await using scene = await GroupScene.start('echoes');
    await using gone = await joined(scene);
    await gone.leave();
    const [name = '', lease] =
      [...(await leasesOf(scene))].find(([each]) => each.startsWith('web-member-a.')) ?? [];
    assert.equal(lease?.spec?.holderIdentity ?? '', '');
    await using _member = await joined(scene, { identity: 'b' });
    scene.clock.advance(20 * 15_000);
    while ((await leasesOf(scene)).has(name)) await turn();
  });

  test('C300 C460 waits for a lease when members with another division were killed, and then begins', async () => {
    await using scene = await GroupScene.start('echoes');
    await using killed = await joined(scene);
    const left = await leasesOf(scene);
    await killed.leave();
    for (const [name, { metadata, spec }] of left) {
      await scene.client.delete(leases, { namespace: 'default', name });
      const { resourceVersion: _, ...rest } = metadata ?? {};
      await scene.client.create(leases, { metadata: rest, ...(spec ? { spec } : {}) });
    }
    await using next = join(scene, { identity: 'b', partitions: 2 });
    const startMs = scene.clock.now();
    await scene.pass(() => next.group.owned.length === 2);
    for (const { metadata, spec } of (await leasesOf(scene)).values())
      if (metadata?.name?.startsWith('web-member-a.')) assert.equal(spec?.holderIdentity ?? '', '');
    const waitedMs = scene.clock.now() - startMs;
    assert.ok(waitedMs >= 15_000 && waitedMs < 20_000, String(waitedMs));
  });

  test('C228 makes the lease of a partition again when it was deleted, with its epoch, and goes on', async () => {
    await using scene = await GroupScene.start('echoes');
    await using member = await joined(scene, { partitions: 1 });
    const name = 'web-partition-00';
    const before = (await leasesOf(scene)).get(name)?.spec;
    await scene.client.delete(leases, { namespace: 'default', name });
    while (!(await leasesOf(scene)).has(name)) await turn();
    const after = (await leasesOf(scene)).get(name)?.spec;
    assert.equal(after?.holderIdentity, before?.holderIdentity);
    assert.equal(after?.leaseTransitions, before?.leaseTransitions);
    assert.deepEqual(member.group.owned, [0]);
  });

  test('C462 owns a partition whose Lease lacked the label of the group, writes the label and reports it once', async () => {
    await using scene = await GroupScene.start('echoes');
    const metadata = { name: 'web-partition-00', namespace: 'default' };
    await scene.client.create(leases, { metadata, spec: {} });
    await using member = join(scene);
    await scene.pass(() => member.group.owned.length === PARTITIONS);
    const label = async (): Promise<string | undefined> =>
      (await leasesOf(scene)).get(metadata.name)?.metadata?.labels?.['kubeloom.dev/partition-group'];
    assert.equal(await label(), 'web');
    // The label is lost while the partition has an owner.
    await scene.client.patch(leases, metadata, { metadata: { labels: null } });
    await scene.pass(() => scene.errors.length > 1);
    while ((await label()) !== 'web') await turn();
    assert.equal(member.group.owned.length, PARTITIONS);
    for (const { code, message } of scene.errors) {
      assert.equal(code, 'ERR_KUBELOOM_ALREADY_EXISTS');
      assert.match(message, /web-partition-00/);
    }
    assert.equal(scene.errors.length, 2);
  });

  test('C301 rejects when works have not ended in time after the stop', async () => {
    await using scene = await GroupScene.start('echoes');
    let release = (): void => undefined;
    const stuck = new Promise<void>((resolve) => (release = resolve));
    const work: WorkOnPartition = async ({ synced }) => {
      synced();
      await stuck;
    };
    await using member = join(scene, { partitions: 2, shutdownTimeoutMs: 20_000 }, work);
    await scene.until(() => member.group.owned.length === 2);
    const code = 'ERR_KUBELOOM_STILL_RUNNING';
    await scene.refuses(member.leave(), { code, message: /web-partition-00, web-partition-01/ });
    release();
  });

  for (const [shutdownTimeoutMs, outcome] of [
    [undefined, 'resolved'],
    [1000, 'ERR_KUBELOOM_STILL_RUNNING'],
  ] as const)
    test(`C301 no other member works on a partition while a work ends within 3 s of its abort, with a limit of ${shutdownTimeoutMs} ms`, async () => {
      await using scene = await GroupScene.start('echoes');
      const { clock } = scene;
      let isWorking = false;
      const slow: WorkOnPartition = async ({ signal, synced }) => {
        isWorking = true;
        synced();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await new Promise<void>((resolve) => clock.schedule(3000, resolve));
        isWorking = false;
      };
      const overlaps: boolean[] = [];
      const next: WorkOnPartition = (tenure) => {
        overlaps.push(isWorking);
        return idle(tenure);
      };
      const limit = shutdownTimeoutMs === undefined ? {} : { shutdownTimeoutMs };
      const member = join(scene, { partitions: 1, ...limit }, slow);
      await scene.until(() => member.group.owned.length === 1);
      let ended = '';
      void member.leave().then(
        () => (ended = 'resolved'),
        (error: KubeloomError) => (ended = error.code),
      );
      await using _other = join(scene, { identity: 'b', partitions: 1 }, next);
      await scene.pass(() => overlaps.length > 0 && ended !== '');
      assert.deepEqual([overlaps, ended], [[false], outcome]);
    });

  test('C301 calls onReady once, when the partitions that it has taken are active', async () => {
    await using scene = await GroupScene.start('echoes');
    const calls: string[] = [];
    const begun: Tenure[] = [];
    const work: WorkOnPartition = async (tenure) => {
      begun.push(tenure);
      await idle({ ...tenure, synced: () => undefined });
    };
    await using _member = join(scene, { partitions: 2, onReady: () => calls.push('ready') }, work);
    await scene.until(() => begun.length === 2);
    assert.deepEqual(calls, []);
    for (const { synced } of begun) synced();
    assert.deepEqual(calls, ['ready']);
  });

  test('C301 does not call onReady while a work fails, and reports the partition and a pause that grows', async () => {
    await using scene = await GroupScene.start('echoes');
    const calls: string[] = [];
    let failuresLeft = 3;
    const work: WorkOnPartition = async (tenure) => {
      if (failuresLeft-- > 0) throw new Error('no database');
      assert.deepEqual(calls, []);
      await idle(tenure);
    };
    const onReady = (): void => {
      calls.push('ready');
      throw new Error('the probe is broken');
    };
    await using member = join(scene, { partitions: 1, onReady }, work);
    await scene.pass(() => calls.length > 0);
    assert.equal(failuresLeft, -1);
    assert.deepEqual(member.group.owned, [0]);
    const pauses = scene.errors.map(({ message }) =>
      /^web-partition-00: the work failed: no database; .* for (\d+) ms or longer$/.exec(message)?.at(1),
    );
    assert.deepEqual(pauses, ['2000', '4000', '8000', undefined]);
    assert.equal(scene.errors.at(-1)?.code, 'ERR_KUBELOOM_ERROR_LISTENER');
  });

  test('C441 ends with the error of a work that can never begin, when its other partitions are handed over', async () => {
    await using scene = await GroupScene.start('echoes');
    const mistake = new KubeloomError('ERR_KUBELOOM_OPTION', 'there is no controller');
    const ended: number[] = [];
    const work: WorkOnPartition = async (tenure) => {
      const { partition, drainSignal } = tenure;
      const isEarly = (): boolean => group?.owned.length !== PARTITIONS && !drainSignal.aborted;
      if (partition === 3) {
        while (isEarly()) await turn();
        throw mistake;
      }
      await idle(tenure);
      ended.push(partition);
    };
    let group: PartitionGroup | undefined;
    await using member = join(scene, {}, work);
    ({ group } = member);
    await scene.refuses(member.run, mistake);
    assert.deepEqual(new Set(ended), new Set([0, 1, 2]));
    const holders = [...(await leasesOf(scene)).values()].map(({ spec }) => spec?.holderIdentity ?? '');
    assert.deepEqual(new Set(holders), new Set(['']));
    assert.deepEqual(scene.errors, []);
  });

  test('has metrics of its partitions while it runs', async () => {
    await using scene = await GroupScene.start('echoes');
    await using member = await joined(scene);
    const match = { name: 'default/web' };
    const reading = new MetricsReading(collectMetrics());
    assert.equal(reading.sum('kubeloom_partitions_owned', match), PARTITIONS);
    assert.equal(reading.sum('kubeloom_partitions_unserved', match), 0);
    assert.equal(reading.sum('kubeloom_partition_changes_total', { ...match, change: 'taken' }), PARTITIONS);
    const synced = reading.histogram('kubeloom_partition_sync_seconds', match);
    const works = synced?.counts.reduce((sum, count) => sum + count);
    assert.equal(works, PARTITIONS);
    await member.leave();
    assert.equal(new MetricsReading(collectMetrics()).sum('kubeloom_partitions_owned', match), undefined);
  });

  test('runs once, and ends at once when it is stopped before', async () => {
    await using scene = await GroupScene.start('echoes');
    await using member = join(scene);
    const again = member.group.run({ signal: new AbortController().signal }, idle);
    await assert.rejects(again, { code: 'ERR_KUBELOOM_STARTED' });
    await member.leave();
    const group = new PartitionGroup(scene.server.connection, NAME);
    await group.run({ signal: AbortSignal.abort() }, idle);
    assert.deepEqual(group.owned, []);
  });

  test('rejects with the error of its informer when that has ended by itself', async () => {
    await using scene = await GroupScene.start('echoes');
    await using member = await joined(scene);
    const rejected = assert.rejects(member.run, { code: 'ERR_KUBELOOM_STOPPED' });
    await scene.threads.close();
    await rejected;
    assert.deepEqual(member.group.owned, []);
  });

  test('refuses wrong options', () => {
    const make = (change: object): PartitionGroup =>
      new PartitionGroup({ server: 'http://127.0.0.1:1' }, { ...NAME, ...change });
    const wrong = [
      { name: 'a_b' },
      { identity: '' },
      { partitions: 1.5 },
      { drainTimeoutMs: -1 },
      { work: 1 },
    ];
    for (const change of wrong)
      assert.throws(() => make(change), { code: 'ERR_KUBELOOM_OPTION' }, JSON.stringify(change));
    assert.match(make({}).identity, /^[a-z0-9-]+$/);
  });
});
