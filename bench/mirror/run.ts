/**
 * `npm run bench:mirror -- --watches 20`: the cost of watches at a real kube-apiserver, direct and through a mirror (needs
 * Go, and Linux for the mirror's CPU time). Rounds without watches, with direct ones, and with as many at a mirror take
 * turns under the same writes. In the last kind of round one watch is direct and one at the mirror: the difference of their
 * arrivals, change by change, is the delay that the mirror adds.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { Command } from 'commander';
import { startControlPlane } from '../../test/e2e/control-plane.ts';
import { TemporaryFolder } from '../../test/kit/temporary-folder.ts';
import { summarise } from '../statistics.ts';
import { Watching, answerTo, send } from './watching.ts';
import type { Server } from './watching.ts';

const OBJECTS = 100;
const TICK_MS = 20;
/** Time between the opening of the watches and the first figure. */
const SETTLE_MS = 1_000;
const CLOCK_TICKS_PER_SECOND = 100;
const CLI = join(import.meta.dirname, '../../src/cli/main.js');

const flags = new Command()
  .description('the cost of watches at a kube-apiserver, direct and through a mirror')
  .option('--watches <count>', 'watches of a round', '20')
  .option('--rate <rate>', 'changes a second', '100')
  .option('--object-bytes <bytes>', 'size of an object', '3000')
  .option('--seconds <count>', 'duration of a round', '6')
  .option('--rounds <count>', 'rounds of each kind', '5')
  .parse()
  .opts<Record<'watches' | 'rate' | 'objectBytes' | 'seconds' | 'rounds', string>>();
const watches = Number(flags.watches);
const rate = Number(flags.rate);
const durationMs = Number(flags.seconds) * 1000;
const padding = 'x'.repeat(Number(flags.objectBytes));

const KINDS = ['none', 'direct', 'mirror', 'both'] as const;
type Kind = (typeof KINDS)[number];

interface Round {
  readonly serverCpuPercent: number;
  readonly mirrorCpuPercent: number;
  readonly receivedMiBPerSecond: number;
  readonly addedMs: readonly number[];
}

await using controlPlane = await startControlPlane();
await using folder = new TemporaryFolder();
const ca = Buffer.from(controlPlane.caData, 'base64').toString('utf8');
const origin: Server = { url: controlPlane.server, ca, token: controlPlane.token };
const mirror: Server = { url: 'http://localhost', socketPath: folder.file('mirror.sock') };
const agent = new Agent({ keepAlive: true, maxSockets: 8, ca });
let written = 0;

await Promise.all(Array.from({ length: OBJECTS }, (_, index) => create(`c${index}`)));
const results = new Map<Kind, Round[]>(KINDS.map((kind) => [kind, []]));
for (let round = 0; round < Number(flags.rounds); round++) {
  for (const kind of round % 2 === 0 ? KINDS : KINDS.toReversed()) {
    results.get(kind)?.push(await run(kind));
  }
}
report();
agent.destroy();

async function run(kind: Kind): Promise<Round> {
  const child = kind === 'mirror' || kind === 'both' ? await startMirror() : undefined;
  const direct = new Watching(origin, kind === 'direct' ? watches : kind === 'both' ? 1 : 0);
  const mirrored = new Watching(mirror, kind === 'mirror' ? watches : kind === 'both' ? 1 : 0);
  try {
    await Promise.all([direct.opened(), mirrored.opened()]);
    await write(SETTLE_MS);
    // Without the objects with which a watch begins.
    for (const { arrivalsMs } of [direct, mirrored]) arrivalsMs.clear();
    const before = await figures(child, direct, mirrored);
    await write(durationMs);
    const later = await figures(child, direct, mirrored);
    const elapsedMs = later.atMs - before.atMs;
    return {
      serverCpuPercent: ((later.serverCpuMs - before.serverCpuMs) / elapsedMs) * 100,
      mirrorCpuPercent: ((later.mirrorCpuMs - before.mirrorCpuMs) / elapsedMs) * 100,
      receivedMiBPerSecond: (later.receivedBytes - before.receivedBytes) / 2 ** 20 / (elapsedMs / 1000),
      addedMs: kind === 'both' ? differences(direct, mirrored) : [],
    };
  } finally {
    direct.close();
    mirrored.close();
    await stop(child);
  }
}

async function startMirror(): Promise<ChildProcess> {
  const args = ['mirror', 'configmaps', '--unix', folder.file('mirror.sock')];
  const child = spawn(process.execPath, [CLI, ...args, '--kubeconfig', controlPlane.kubeconfigPath], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const isSynced = (): Promise<boolean> =>
    answerTo(send(mirror, '/api/v1/configmaps?limit=1')).then(
      () => true,
      () => false,
    );
  while (!(await isSynced())) await after(TICK_MS);
  return child;
}

async function stop(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined) return;
  child.kill('SIGTERM');
  await once(child, 'close');
}

async function create(name: string): Promise<void> {
  const object = { metadata: { name }, data: { number: '0', padding } };
  const headers = { 'content-type': 'application/json' };
  const path = '/api/v1/namespaces/default/configmaps';
  await answerTo(send(origin, path, { method: 'POST', headers, agent }), JSON.stringify(object));
}

/** Writes at the rate for this long, and resolves when every write has been answered. */
async function write(forMs: number): Promise<void> {
  const startedAtMs = performance.now();
  const answers: Promise<unknown>[] = [];
  for (let sent = 0; ;) {
    const elapsedMs = performance.now() - startedAtMs;
    if (elapsedMs >= forMs) break;
    for (; sent < (elapsedMs * rate) / 1000; sent++) answers.push(change());
    await after(TICK_MS);
  }
  await Promise.all(answers);
}

function change(): Promise<string> {
  const number = ++written;
  const headers = { 'content-type': 'application/merge-patch+json' };
  const path = `/api/v1/namespaces/default/configmaps/c${number % OBJECTS}`;
  const body = JSON.stringify({ data: { number: String(number) } });
  return answerTo(send(origin, path, { method: 'PATCH', headers, agent }), body);
}

interface Figures {
  readonly atMs: number;
  readonly serverCpuMs: number;
  readonly mirrorCpuMs: number;
  readonly receivedBytes: number;
}

async function figures(child: ChildProcess | undefined, ...all: readonly Watching[]): Promise<Figures> {
  const metrics = await answerTo(send(origin, '/metrics', { agent }));
  const seconds = Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]);
  return {
    atMs: performance.now(),
    serverCpuMs: seconds * 1000,
    mirrorCpuMs: child === undefined ? 0 : cpuMsOf(child),
    receivedBytes: all.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0),
  };
}

function cpuMsOf({ pid }: ChildProcess): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
  const [user, system] = afterName.split(' ').slice(11, 13);
  return ((Number(user) + Number(system)) * 1000) / CLOCK_TICKS_PER_SECOND;
}

function differences(direct: Watching, mirrored: Watching): number[] {
  return [...direct.arrivalsMs].flatMap(([number, directMs]) => {
    const mirroredMs = mirrored.arrivalsMs.get(number);
    return mirroredMs === undefined ? [] : [mirroredMs - directMs];
  });
}

function report(): void {
  const median = (kind: Kind, figure: (round: Round) => number): number =>
    summarise((results.get(kind) ?? []).map(figure))?.median ?? Number.NaN;
  console.log(
    `${watches} watches, ${rate} changes/s of ${flags.objectBytes} bytes; medians of ${flags.rounds} rounds`,
  );
  for (const kind of KINDS) {
    const server = median(kind, (round) => round.serverCpuPercent).toFixed(1);
    const own = median(kind, (round) => round.mirrorCpuPercent).toFixed(1);
    const received = median(kind, (round) => round.receivedMiBPerSecond).toFixed(2);
    console.log(`${kind}: kube-apiserver ${server} % CPU, mirror ${own} % CPU, received ${received} MiB/s`);
  }
  const added = (results.get('both') ?? []).flatMap(({ addedMs }) => addedMs).toSorted((a, b) => a - b);
  const at = (share: number): string => (added[Math.floor(added.length * share)] ?? Number.NaN).toFixed(2);
  console.log(
    `added delay of ${added.length} changes: median ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`,
  );
}
