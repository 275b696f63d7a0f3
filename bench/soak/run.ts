/**
 * `npm run soak -- --minutes M`: one informer under a steady load with faults, window after window, and the gates of
 * docs/reliability.md at the end. The server and its load are another process, so all measurements concern this one.
 */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { Command } from 'commander';
import { InformerThreads, SharedIndexInformer, label } from '../../src/index.ts';
import { seededRandom, startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { Recorder } from '../../test/sim/oracle/recorder.ts';
import { PODS, kubeConfigOf } from '../../test/unit/informer/pipeline/harness.ts';
import { AttachedThreads } from './attached.ts';
import { gatesOf } from './gates.ts';
import type { WindowResult } from './gates.ts';
import { SOAK_FAULTS } from './soak-faults.ts';
import type { SoakFault } from './soak-faults.ts';
import { runWindow } from './window.ts';

interface Flags {
  readonly minutes: string;
  readonly pods: string;
  readonly rate: string;
  readonly windowSeconds: string;
  readonly seed: string;
  readonly reconnections: string;
  readonly threads: string;
  readonly json?: string;
}

const FAULT_INTERVAL_MS = 30_000;
const HISTORY_EVENTS_MAX = 1_000_000;

const {
  minutes,
  pods,
  rate,
  windowSeconds,
  seed,
  reconnections,
  threads: threadCount,
  json,
} = new Command()
  .description('a steady load with faults; fails when a gate is not met')
  .option('--minutes <count>', 'how long', '60')
  .option('--pods <count>', 'objects', '10000')
  .option('--rate <rate>', 'changes a second', '500')
  .option('--window-seconds <count>', 'how long each window is under load', '60')
  .option('--seed <number>', 'seed of the order of faults', '1')
  .option('--reconnections <count>', 'watches broken before the first window', '5000')
  .option('--threads <count>', 'threads that read the cache', '2')
  .option('--json <file>', 'write every window and gate to this file')
  .parse()
  .opts<Flags>();

const random = seededRandom(Number(seed));
const loadMs = Number(windowSeconds) * 1000;
const faultsPerWindow = Math.max(1, Math.round(loadMs / FAULT_INTERVAL_MS));
let deck: SoakFault[] = [];

/** Returns every fault once in random order, before any of them again. */
function drawFault(): SoakFault[] {
  if (deck.length === 0) deck = [...SOAK_FAULTS];
  return deck.splice(Math.floor(random() * deck.length), 1);
}

const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(`unhandled rejection: ${String(reason)}`));

await using server = await startEmbeddedApiServer({
  isolation: 'process',
  tls: true,
  historyEventsMax: HISTORY_EVENTS_MAX,
});
await server.populate({ count: Number(pods) });
await using threads = new InformerThreads({ indexerThreads: 2 });
let recorder = new Recorder();
await using informer = new SharedIndexInformer(kubeConfigOf(server), PODS, {
  threads,
  indexers: { app: label('app') },
  backoff: { initialMs: 50, maxMs: 1000 },
  onError: (error) => recorder.report(error),
});
void informer.run();
await informer.waitForSync();

// TLS connections leave memory that is released when the reflector thread collects garbage, after some 4,000
// of them. Until then memory grows by 6 KB each, which is not a leak (docs/reliability.md).
for (let broken = 0; broken < Number(reconnections); broken++) {
  await server.dropWatches({ how: 'reset' });
  await server.waitForWatches(1);
}

await using attached = new AttachedThreads(informer.share(), Number(threadCount));
const windows: WindowResult[] = [];
const startedAtMs = performance.now();
while (performance.now() - startedAtMs < Number(minutes) * 60_000) {
  recorder = new Recorder();
  const index = windows.length;
  const faults = Array.from({ length: faultsPerWindow }, drawFault).flat();
  const window = await runWindow(server, informer, threads, recorder, {
    index,
    startedAtMs,
    loadMs,
    rate: Number(rate),
    faults,
    attached,
  });
  windows.push({ ...window, violations: [...window.violations, ...unhandled.splice(0)] });
  const { gauges, changes, violations, missed } = window;
  const heapMiB = (gauges.heapBytes / 2 ** 20).toFixed(1);
  const rssMiB = (gauges.rssBytes / 2 ** 20).toFixed(0);
  console.log(
    `window ${index}: ${changes} changes, ${faults.map(({ name }) => name).join(', ')}; heap ${heapMiB} MiB, ` +
      `RSS ${rssMiB} MiB${[...violations, ...missed.map((name) => `MISSED ${name}`)].map((text) => `\n  ${text}`).join('')}`,
  );
}

const gates = gatesOf(windows);
const failed = gates.filter(({ isMet }) => !isMet).length;
const changes = windows.reduce((sum, window) => sum + window.changes, 0);
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}`;
console.log(
  `\n${windows.length} windows, ${changes} changes, ${pods} objects, ${rate} changes/s, ${threadCount} threads, seed ${seed}; ${machine}`,
);
for (const { name, isMet, seen } of gates) console.log(`${isMet ? 'passed' : 'FAILED'}  ${name}: ${seen}`);
console.log(`${gates.length - failed} passed, ${failed} failed`);
if (json !== undefined)
  await writeFile(
    json,
    JSON.stringify(
      { machine, pods, rate, threads: threadCount, seed, minutes, gates, windows },
      undefined,
      1,
    ),
  );
process.exitCode = failed === 0 ? 0 : 1;
