/** Cases about slow threads, and about a process with little memory. */
import assert from 'node:assert/strict';
import { transformModule } from '../../src/index.ts';
import { InformerProcess } from '../kit/informer-process.ts';
import { annotated, pod, put } from '../kit/objects.ts';
import type { FaultCase } from './fault-case.ts';
import type { Scene } from './scene.ts';

const MIB = 2 ** 20;
const COALESCED = 'ERR_KUBELOOM_BACKLOG_COALESCED';
const OVERFLOW = 'ERR_KUBELOOM_HANDLER_OVERFLOW';

export const CASES_OF_MACHINES: readonly FaultCase[] = [
  {
    id: '50',
    what: 'a shard takes 80 ms for each of 120 objects, with a ring of 16 KiB; ten times as many arrive',
    expected:
      'the ring fills and the watch is not read; no change is lost or coalesced, and no thread is replaced',
    threads: { indexerThreads: 2, ringBytes: 2 ** 14, logBytes: 16 * MIB },
    informer: { transform: transformModule(new URL('./slow-module.js', import.meta.url).href, 'slow') },
    convergeMs: 30_000,
    run: slowShard,
  },
  {
    id: '67b',
    what: 'a heap of 160 MiB and the budget of a group of 256 MiB: 100,000 objects, 2,000 events a second and a handler that never returns',
    expected:
      'its notifications are coalesced, then it is removed, both with a code; the process runs on and is correct',
    isAlone: true,
    objects: 100_000,
    rate: 2000,
    hasBodies: false,
    server: { isolation: 'process' },
    convergeMs: 30_000,
    run: littleMemory,
  },
];

async function slowShard(scene: Scene): Promise<string> {
  await scene.apply(put(annotated(pod('slow'), { 'test/slow': '120' })));
  scene.own.push('slow shard');
  let unmerged = 0;
  let lagMs = 0;
  await scene.until(() => {
    unmerged = Math.max(unmerged, scene.informer.health.unmerged);
    lagMs = Math.max(lagMs, scene.informer.health.lagMs ?? 0);
    return scene.informer.health.phase === 'paused';
  }, 'the watch is not read');
  scene.healedAtMs = performance.now();
  const restarts = scene.threads.stats().map((role) => role.restarts);
  assert.ok(restarts.every((count) => count === 0));
  return `${unmerged} records on their way, the cache is ${lagMs.toFixed(0)} ms old`;
}

async function littleMemory(scene: Scene): Promise<string> {
  const options = { memoryLimitBytes: 256 * MIB, threads: { backlogTimeoutMs: 1000 }, isStuck: true };
  await using program = await InformerProcess.start(scene.server, options, 160);
  scene.own.push('small process');
  let state = await program.state();
  const isRemoved = async (): Promise<boolean> => (state = await program.state()).errors.includes(OVERFLOW);
  await scene.until(isRemoved, `${OVERFLOW} is reported`, 120_000);
  assert.deepEqual(state.errors.indexOf(COALESCED), 0, state.errors.join());
  assert.ok(state.backlogBytesMax <= 64 * MIB, `${state.backlogBytesMax} bytes of backlog are allowed`);
  await scene.stopLoad();
  const revision = await scene.server.revision();
  await scene.until(
    async () => Number((state = await program.state()).version) >= revision,
    'it is up to date',
  );
  assert.equal(state.size, (await scene.keys()).length);
  const [heap, resident] = [state.heapBytes / MIB, state.residentBytes / MIB];
  return `heap ${heap.toFixed(0)} MiB, resident ${resident.toFixed(0)} MiB; ${state.errors.join(', ')}`;
}
