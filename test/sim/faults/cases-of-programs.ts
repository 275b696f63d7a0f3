/** Cases about mistakes in the program around the informer, and about slow and small machines. */
import assert from 'node:assert/strict';
import { annotated, pod, put } from '../../kit/objects.ts';
import type { FaultCase } from './fault-case.ts';
import type { SimulatedScene as Scene } from './simulated-scene.ts';

/** Code in reports of handlers' errors that have none. */
const HANDLER = 'ERR_KUBELOOM_HANDLER';
const MIB = 2 ** 20;

const nothing = (): void => undefined;

export const CASES_OF_PROGRAMS: readonly FaultCase<Scene>[] = [
  {
    id: '42a',
    what: 'events of 1.5 MB, 3 MB and 16 MB, with a limit of 8 MiB',
    expected: 'complete up to the limit; above it identity and version only',
    threads: { logBytes: 32 * MIB, objectBytesMax: 8 * MIB },
    run: bigObjects,
    hasBodies: false,
  },
  {
    id: '50',
    what: 'shards do not work, with rings of 16 KiB, and ten times as many changes arrive',
    expected: 'the rings fill and the watch is not read; no change is lost or coalesced',
    threads: { ringBytes: 2 ** 14, logBytes: 16 * MIB },
    run: slowShards,
  },
  {
    id: '56',
    what: 'handlers that throw, reject, never return and are slow',
    expected:
      'reported with their registration; only the handler that never returns has a backlog, which is counted',
    codes: [HANDLER],
    run: badHandlers,
  },
  {
    id: '58',
    what: 'a handler writes to an object and to an array in it',
    expected: 'ERR_KUBELOOM_MUTATION, and the cache is unchanged',
    codes: ['ERR_KUBELOOM_MUTATION'],
    informer: { debug: { retainChecks: 'strict' } },
    run: async (scene) => {
      let tries = 0;
      const write = ({ object }: { readonly object: unknown }): void => {
        if (tries++ > 5) return;
        const pod = object as { spec: { containers: object[] }; metadata: Record<string, unknown> };
        if (tries % 2 === 0) pod.metadata['name'] = 'mine';
        else pod.spec.containers.push({});
      };
      scene.informer.addEventHandler({ onUpdate: (_old, entry) => write(entry) });
      await scene.untilReported('ERR_KUBELOOM_MUTATION', 2);
      scene.own.push('writes');
      return `${tries} writes, none of them in the cache`;
    },
  },
];

async function bigObjects(scene: Scene): Promise<string> {
  for (const [name, megabytes] of Object.entries({ a: 1.5, b: 3, c: 16 }))
    await scene.apply(put(annotated(pod(`big-${name}`), { a: 'x'.repeat(megabytes * MIB) })));
  scene.own.push('big objects');
  const entry = (name: string): { readonly object: unknown } | undefined =>
    scene.informer.getStore().getByKey(`default/big-${name}`);
  await scene.until(() => entry('c') !== undefined, 'the last one is cached');
  assert.equal(JSON.stringify(entry('b')?.object).length > 3 * MIB, true);
  assert.throws(() => entry('c')?.object, { code: 'ERR_KUBELOOM_OBJECT_TOO_LARGE' });
  return '1.5 and 3 MB complete, 16 MB by identity';
}

async function slowShards(scene: Scene): Promise<string> {
  scene.world.areShardsHeld = true;
  scene.own.push('slow shards');
  scene.startLoad(10);
  await scene.until(() => scene.informer.health.phase === 'paused', 'the watch is not read');
  const { unmerged } = scene.informer.health;
  await scene.pass(100);
  assert.ok(scene.informer.health.unmerged === unmerged, 'nothing is read meanwhile');
  scene.world.areShardsHeld = false;
  return `${unmerged} records on their way`;
}

async function badHandlers(scene: Scene): Promise<string> {
  const { informer } = scene;
  informer.addEventHandler({
    onUpdate: () => {
      throw new Error('thrown on purpose');
    },
  });
  informer.addEventHandler({ onUpdate: () => Promise.reject(new Error('rejected on purpose')) });
  let release = nothing;
  const held = new Promise<void>((resolve) => (release = resolve));
  const stuck = informer.addEventHandler({ onAdd: nothing, onUpdate: () => held });
  informer.addEventHandler({ onUpdate: () => scene.later(50) }, { name: 'slow' });
  scene.own.push('four bad handlers');
  try {
    await scene.untilReported(HANDLER, 20);
    await scene.untilReceived(200);
    assert.ok(stuck.backlog.notifications > 50, `${stuck.backlog.notifications} are counted`);
    return `${stuck.backlog.notifications} notifications wait for the handler that never returns`;
  } finally {
    // Otherwise its informer could not end.
    informer.removeEventHandler(stuck);
    release();
  }
}
