/** Cases about servers that reject requests, are unreachable, are behind, or were replaced by others. */
import assert from 'node:assert/strict';
import type { Change } from '../../../src/tools/apiserver/testing/index.ts';
import { deletion, pod as podOf, put } from '../../kit/objects.ts';
import {
  EXPIRED,
  GONE,
  LIST_ONLY,
  PLAIN_WATCH,
  RESET,
  UNREACHABLE,
  onlyWatches,
  relistedFrom,
  strike,
} from './strikes.ts';
import type { FaultCase } from './fault-case.ts';
import type { SimulatedScene as Scene } from './simulated-scene.ts';

const TOO_MANY = 'ERR_KUBELOOM_TOO_MANY_REQUESTS';
/** A real apiserver has taken this long to fill its caches. */
const BEGINNING_MS = 34_000;

function deletions(keys: readonly string[]): Change[] {
  return keys.map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return deletion(name, namespace);
  });
}

function pod(key: string, labels: Record<string, string> = {}): Change {
  const [namespace = '', name = ''] = key.split('/');
  return put(podOf(name, labels, namespace));
}

/** Applies a thousand changes besides the load, and leaves time for some attempts. */
async function changed(scene: Scene, step: string): Promise<void> {
  await scene.apply(...Array.from({ length: 1000 }, (_, index) => pod(`default/changed-${index}`, { step })));
  await scene.pass(500);
}

/** Cuts the watch and answers every request with an error during `meanwhile`. */
async function away(scene: Scene, meanwhile: () => Promise<unknown>, status = 503): Promise<void> {
  const id = await scene.fault({ type: 'answer', status }, {}, 'always');
  await scene.fault({ type: 'end' });
  await scene.untilLanded(id);
  await meanwhile();
  await scene.heal();
}

export const CASES_OF_REFUSALS: readonly FaultCase<Scene>[] = [
  {
    id: '11',
    what: 'lists come from a replica that is 500 versions behind',
    expected: 'asks for no older version than it has received, then for the newest; no object goes back',
    codes: [GONE],
    objects: 800,
    server: { freshnessTimeoutMs: 200 },
    run: async (scene) => {
      await scene.fault({ type: 'lag', revisions: 500 }, {}, 'always');
      await strike(scene, EXPIRED);
      return relistedFrom(scene, /^stream \d+, stream$/);
    },
  },
  {
    id: '13',
    what: '429 for everything while the server starts, for 34 s',
    expected: 'not synced and not ended, and complete in the end',
    codes: [TOO_MANY],
    isStartedLater: true,
    run: async (scene) => {
      const id = await scene.fault({ type: 'answer', status: 429, retryAfterSeconds: 1 }, {}, 'always');
      scene.runInformer();
      await scene.untilLanded(id, 2);
      scene.stopLoad();
      await scene.pass(BEGINNING_MS);
      const landed = await scene.untilLanded(id, 2);
      assert.equal(scene.informer.hasSynced(), false);
      // Every retry waits at least a second, and the first answer does not end the informer.
      assert.ok(landed.length <= BEGINNING_MS / 1000 + 2, `${landed.length} requests`);
      await scene.heal();
      await scene.until(() => scene.informer.hasSynced(), 'it has synced');
      scene.startLoad();
      return `synced after ${landed.length} refusals`;
    },
  },
  {
    id: '14',
    what: '500, then 503, then no server listens; each time 1,000 objects change meanwhile',
    expected: 'backs off; without a server: no list',
    codes: ['ERR_KUBELOOM_INTERNAL', 'ERR_KUBELOOM_HTTP_STATUS', UNREACHABLE],
    mayReport: [RESET],
    run: async (scene) => {
      await away(scene, () => changed(scene, 'a'), 500);
      await scene.untilReceived(20);
      await away(scene, () => changed(scene, 'b'), 503);
      await scene.untilReceived(20);
      await scene.mark();
      scene.world.network.refuse();
      await scene.untilReported(UNREACHABLE);
      await changed(scene, 'c');
      scene.world.network.accept();
      await scene.untilReceived(20);
      return onlyWatches(scene);
    },
  },
  {
    id: '15a',
    what: '401 for the token, until the token file has another one',
    expected: 'the file is read again at once and for every request; resumes with a list',
    codes: ['ERR_KUBELOOM_UNAUTHORIZED'],
    server: { token: '' },
    isStartedLater: true,
    run: rotatedToken,
  },
  {
    id: '15b',
    what: '403 for a second',
    expected: 'continues to serve its cache, reports, recovers',
    codes: ['ERR_KUBELOOM_FORBIDDEN'],
    run: async (scene) => {
      await away(
        scene,
        async () => {
          await scene.untilReported('ERR_KUBELOOM_FORBIDDEN', 2);
          assert.ok(scene.cached > 0);
        },
        403,
      );
      return `${scene.cached} objects were served meanwhile`;
    },
  },
  {
    id: '16',
    what: '404: the resource is deleted, and comes back with other objects',
    expected: 'continues to serve its cache, reports, and delivers the deletions after the return',
    codes: ['ERR_KUBELOOM_NOT_FOUND'],
    run: async (scene) => {
      const keys = (await scene.keys()).slice(0, 50);
      await away(
        scene,
        async () => {
          await scene.untilReported('ERR_KUBELOOM_NOT_FOUND', 2);
          await scene.apply(...deletions(keys), ...keys.slice(0, 10).map((key) => pod(`${key}-new`)));
        },
        404,
      );
      return '50 deletions and 10 additions';
    },
  },
  {
    id: '17',
    what: "100 objects are deleted while no watch is open, and the server's history of it is gone",
    expected: '100 deletions with the last state, finalStateUnknown',
    codes: ['ERR_KUBELOOM_HTTP_STATUS'],
    mayReport: [GONE],
    run: async (scene) => {
      const keys = (await scene.keys()).slice(0, 100);
      scene.stopLoad();
      await away(scene, async () => {
        await scene.apply(...deletions(keys));
        await scene.server.compact();
      });
      const unknown = (): number =>
        scene.recorder.histories.delivered.filter(
          (record) => record.kind === 'delete' && record.finalStateUnknown,
        ).length;
      await scene.until(() => unknown() >= 100, '100 deletions are delivered');
      assert.equal(unknown(), 100);
      return '100 deletions, all with finalStateUnknown';
    },
  },
  {
    id: '18',
    what: 'an object is deleted and created again while no watch is open',
    expected: 'one update from the old uid to the new one',
    codes: ['ERR_KUBELOOM_HTTP_STATUS'],
    mayReport: [GONE],
    run: async (scene) => {
      const [key = ''] = await scene.keys();
      const before = scene.informer.getStore().getByKey(key)?.uid;
      scene.stopLoad();
      await away(scene, async () => {
        await scene.apply(...deletions([key]), pod(key));
        await scene.server.compact();
      });
      const { delivered } = scene.recorder.histories;
      const last = (): string | undefined =>
        delivered.findLast((one) => 'key' in one && one.key === key)?.kind;
      const uid = (): string | undefined => scene.informer.getStore().getByKey(key)?.uid;
      await scene.until(() => uid() !== before && last() === 'update', 'an update is delivered');
      return 'one update between two uids';
    },
  },
  {
    id: '20',
    what: 'created, updated and deleted between the list and the watch after it',
    expected: 'all changes are delivered',
    codes: [GONE],
    informer: LIST_ONLY,
    run: async (scene) => {
      const held = await scene.fault({ type: 'hold' }, PLAIN_WATCH);
      await scene.fault(EXPIRED);
      await scene.untilLanded(held);
      const keys = (await scene.keys()).slice(0, 20);
      await scene.apply(pod('default/between'), pod('default/between', { step: '2' }), ...deletions(keys));
      await scene.apply(pod('default/short'), ...deletions(['default/short']));
      await scene.heal();
      await scene.untilReceived(20);
      return relistedFrom(scene, /^list \d+, watch \d+$/);
    },
  },
  {
    id: '48',
    what: 'three replicas behind one name, up to 300 versions apart; the connection changes nine times',
    expected: 'nothing goes back',
    mayReport: [GONE, 'ERR_KUBELOOM_EXPIRED_LOOP'],
    objects: 400,
    server: { freshnessTimeoutMs: 200 },
    run: async (scene) => {
      await scene.fault({ type: 'lag', revisions: 100 }, { connection: { of: 3, is: 1 } }, 'always');
      await scene.fault({ type: 'lag', revisions: 300 }, { connection: { of: 3, is: 2 } }, 'always');
      for (let hop = 0; hop < 9; hop++) {
        await scene.untilLanded(await scene.fault(hop % 2 === 0 ? { type: 'end' } : EXPIRED));
        await scene.untilReceived(30);
      }
      await scene.heal();
      return `${(await scene.asked()).length} requests`;
    },
  },
  {
    id: '49',
    objects: 20,
    what: '50 informers, and their server is unreachable for 0.5 s',
    expected: 'they return over at least half of the backoff, and no more than twice the mean at a time',
    codes: [UNREACHABLE],
    mayReport: [RESET, 'ERR_KUBELOOM_VERY_SHORT_WATCH'],
    // All have the same name, and each lists for the first time.
    excused: ['I15'],
    run: herd,
  },
];

async function rotatedToken(scene: Scene): Promise<string> {
  const folder = scene.folder();
  const tokenFile = folder.write('token', 'old');
  const source = scene.informer.source as { users: object[] };
  const authProvider = { name: 'tokenFile', config: { tokenFile } };
  source.users = source.users.map((user) => ({ ...user, token: undefined, authProvider }));
  await scene.startInformer();
  await scene.mark();
  const refused = await scene.fault({ type: 'answer', status: 401 }, { token: 'old' }, 'always');
  await scene.fault({ type: 'end' });
  const [first, second] = await scene.untilLanded(refused, 2);
  assert.equal(first?.atMs, second?.atMs, 'asked again at once');
  await scene.untilReported('ERR_KUBELOOM_UNAUTHORIZED');
  folder.write('token', 'new');
  await scene.untilReceived(50);
  await scene.heal();
  return (await scene.asked()).join(', ');
}

const HERD = 50;
const HERD_BACKOFF_MS = 1500;
const BUCKETS = 4;

async function herd(scene: Scene): Promise<string> {
  const backoff = { initialMs: HERD_BACKOFF_MS, maxMs: HERD_BACKOFF_MS };
  const informers = Array.from({ length: HERD }, () => scene.newInformer({ backoff, ...LIST_ONLY }));
  for (const informer of informers) void informer.run().catch(() => undefined);
  await scene.until(() => informers.every((informer) => informer.hasSynced()), 'all have synced');
  scene.stopLoad();
  scene.world.network.refuse();
  await scene.pass(500);
  const openedMs = scene.now;
  scene.world.network.accept();
  const back = (): number[] => scene.world.network.accepted.filter((atMs) => atMs >= openedMs);
  await scene.until(() => back().length >= HERD, 'all are back');
  // Without the first and the last: one straggler does not show a herd.
  const times = back()
    .slice(0, HERD + 1)
    .map((atMs) => atMs - openedMs)
    .sort((x, y) => x - y)
    .slice(3, -3);
  const first = times[0] ?? 0;
  const spreadMs = (times.at(-1) ?? 0) - first;
  const counts = Array.from({ length: BUCKETS }, () => 0);
  for (const atMs of times) {
    const bucket = Math.min(BUCKETS - 1, Math.floor(((atMs - first) / spreadMs) * BUCKETS));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  assert.ok(spreadMs >= HERD_BACKOFF_MS / 2, `back within ${spreadMs.toFixed(0)} ms`);
  assert.ok(Math.max(...counts) <= (2 * times.length) / BUCKETS, `${counts.join(', ')} at a time`);
  return `back over ${spreadMs.toFixed(0)} ms: ${counts.join(', ')}`;
}
