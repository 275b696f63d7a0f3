/**
 * Watch throughput of one informer with one handler, kubeloom beside @kubernetes/client-node, in turn on the
 * same source: 20,000 pods of 5 KB, then 300,000 changes as fast as the client takes them. Every client is a
 * process of its own, the source is another, all on the same cores. `npm run bench -- [ROUNDS]`.
 */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startHighRateSource } from '../src/embedded/source.ts';

const PODS = 20_000;
const EVENTS = 300_000;
const OBJECT_BYTES = 5120;
const CLIENT = fileURLToPath(new URL('./watch-client.js', import.meta.url));
const PEER = fileURLToPath(new URL('../src/cli/peer-informer.js', import.meta.url));

interface Run {
  readonly events: number;
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

async function kubeloom(url: string): Promise<Run> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLIENT, url, String(EVENTS)]);
  return JSON.parse(stdout) as Run;
}

async function clientNode(url: string): Promise<Run> {
  const kubeConfig = JSON.stringify({
    clusters: [{ name: 'source', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'bench', user: {} }],
    contexts: [{ name: 'bench', context: { cluster: 'source', user: 'bench' } }],
    'current-context': 'bench',
  });
  const child = fork(PEER, [JSON.stringify({ kubeConfig, events: EVENTS })]);
  const [run] = (await once(child, 'message')) as [Run];
  return run;
}

const clients = { kubeloom, 'client-node': clientNode };
type Client = keyof typeof clients;
const rates: Record<Client, number[]> = { kubeloom: [], 'client-node': [] };
const cpu: Record<Client, number[]> = { kubeloom: [], 'client-node': [] };

const rounds = Number(process.argv[2] ?? 3);
for (let round = 0; round < rounds; round++) {
  for (const name of ['kubeloom', 'client-node'] as const) {
    await using source = await startHighRateSource({ pods: PODS, objectBytes: OBJECT_BYTES, events: EVENTS });
    const { events, elapsedMs, cpuMs } = await clients[name](source.url);
    rates[name].push((events / elapsedMs) * 1000);
    cpu[name].push((cpuMs / events) * 1000);
  }
}

function spread(values: readonly number[], digits: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, median, max] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  return [min, median, max].map((value) => (value ?? 0).toFixed(digits)).join(' / ');
}

const { model = 'unknown CPU' } = cpus()[0] ?? {};
console.log(`${cpus().length} × ${model}, Node ${process.version}, ${rounds} rounds, min / median / max`);
for (const name of ['kubeloom', 'client-node'] as const) {
  console.log(
    `${name.padEnd(12)} ${spread(rates[name], 0)} events/s, ${spread(cpu[name], 1)} µs CPU an event`,
  );
}
const ratios = rates.kubeloom.map((rate, round) => rate / (rates['client-node'][round] ?? Number.NaN));
console.log(`ratio        ${spread(ratios, 2)}`);
