/** Runs the informer of `@kubernetes/client-node` in a process of its own on a source of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startHighRateSource } from '../embedded/source.ts';
import { KubeloomError } from '../errors.ts';
import type { Comparison, DemoReport } from './demo-report.ts';
import type { PeerResult, PeerTask } from './peer-informer.ts';
import { sourceKubeConfig } from './source-demo-server.ts';
import type { UnlimitedLoad } from './source-demo-server.ts';

const ENTRY = new URL('./peer-informer.js', import.meta.url);

/** The same stream as the demo's: the source's events depend on its options alone. */
export async function runPeer(load: UnlimitedLoad, signal: AbortSignal): Promise<PeerResult> {
  await using source = await startHighRateSource(load);
  const task: PeerTask = { kubeConfig: sourceKubeConfig(source.url), events: load.events };
  const child = fork(fileURLToPath(ENTRY), [JSON.stringify(task)], { stdio: ['ignore', 2, 2, 'ipc'] });
  const ended = once(child, 'exit');
  try {
    const answer = once(child, 'message', { signal }).then(([result]) => result as PeerResult);
    const gone = ended.then(([code, killed]): never => {
      const how = `ended with ${String(code ?? killed)} before it had all events`;
      throw new KubeloomError('ERR_KUBELOOM_COMPARISON', `the informer of @kubernetes/client-node ${how}`);
    });
    return await Promise.race([answer, gone]);
  } finally {
    child.kill();
    await ended;
  }
}

export function comparisonOf(
  { eventsPerSecond }: DemoReport,
  { events, elapsedMs, cpuMs, syncMs }: PeerResult,
): Comparison {
  const clientNodeEventsPerSecond = Math.round((events * 1000) / elapsedMs);
  const ratio = Math.round((eventsPerSecond * 10) / clientNodeEventsPerSecond) / 10;
  return { clientNodeEventsPerSecond, ratio, clientNodeCpuMs: cpuMs, clientNodeSyncMs: syncMs };
}
