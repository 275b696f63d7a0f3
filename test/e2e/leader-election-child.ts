/**
 * A candidate as a process: `node leader-election-child.js KUBECONFIG IDENTITY LOG`. As long as it leads, it writes a line with
 * the time of each act, on the clock that all processes of a machine share. SIGTERM stops it; it exits with status 3 after a
 * loss of the leadership.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { LeaderElector, ObjectClient } from '../../src/controller/index.ts';
import { KubeloomError, loadKubeConfig } from '../../src/index.ts';

const [kubeconfig = '', identity = '', log = ''] = process.argv.slice(2);
const ACT_MS = 5;
/** Duration of the work's end after SIGTERM. */
const DRAIN_MS = 300;

const elector = new LeaderElector({
  client: new ObjectClient(loadKubeConfig({ path: kubeconfig })),
  namespace: 'default',
  name: 'e2e-election',
  identity,
  leaseDurationMs: 3000,
  renewDeadlineMs: 2000,
  retryPeriodMs: 250,
});

/** The time is taken before the question, so that a suspension between question and line does not count as an act. */
function act(mayAct: () => boolean): boolean {
  const atNs = process.hrtime.bigint();
  if (!mayAct()) return false;
  appendFileSync(log, `${atNs} ${identity}\n`);
  return true;
}

async function lead(signal: AbortSignal): Promise<void> {
  while (act(() => !signal.aborted)) await setTimeout(ACT_MS);
  const endMs = performance.now() + DRAIN_MS;
  while (performance.now() < endMs && act(() => elector.isLeader())) await setTimeout(ACT_MS);
}

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
try {
  await elector.run({ signal: stop.signal }, lead);
} catch (error) {
  if (!(error instanceof KubeloomError) || error.code !== 'ERR_KUBELOOM_LEADER_LOST') throw error;
  process.exit(3);
}
