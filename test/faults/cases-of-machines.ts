/** Cases about a process with little memory. */
import assert from 'node:assert/strict';
import { HANG_MS } from '../kit/hang.ts';
import { InformerProcess } from '../kit/informer-process.ts';
import type { RealCase, Scene } from './scene.ts';

const MIB = 2 ** 20;
const COALESCED = 'ERR_KUBELOOM_BACKLOG_COALESCED';

export const CASES_OF_MACHINES: readonly RealCase[] = [
  {
    id: '67b',
    place: 'process',
    what: 'a heap of 160 MiB and the budget of a group of 256 MiB: 100,000 objects, written as fast as possible, and a handler that never returns',
    expected: 'its notifications are coalesced, with a code; the process runs on and is correct',
    objects: 100_000,
    hasBodies: false,
    server: { isolation: 'process' },
    run: littleMemory,
  },
];

async function littleMemory(scene: Scene): Promise<string> {
  scene.flood();
  const options = {
    memoryLimitBytes: 256 * MIB,
    threads: { stallTimeoutMs: HANG_MS },
    handler: 'stuck' as const,
  };
  await using program = await InformerProcess.start(scene.server, options, { heapMiB: 160 });
  scene.own.push('small process');
  let state = await program.state();
  const isCoalesced = async (): Promise<boolean> =>
    (state = await program.state()).errors.includes(COALESCED);
  await scene.until(isCoalesced, `${COALESCED} is reported`);
  assert.ok(state.backlogBytesMax <= 64 * MIB, `${state.backlogBytesMax} bytes of backlog are allowed`);
  scene.stopLoad();
  const revision = await scene.server.revision();
  await scene.until(
    async () => Number((state = await program.state()).version) >= revision,
    'it is up to date',
  );
  assert.equal(state.size, (await scene.server.state('pods')).size);
  const [heap, resident] = [state.heapBytes / MIB, state.residentBytes / MIB];
  return `heap ${heap.toFixed(0)} MiB, resident ${resident.toFixed(0)} MiB; ${state.errors.join(', ')}`;
}
