/**
 * `npm run suite -- soak --minutes M` or `--hours H`: informers, threads, a pool, a group of members and an election under load and
 * faults, window after window, and one judge. It prints a table of the gates, and ends with 1 when one is not met.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { Command } from 'commander';
import { goAvailable } from '../e2e/go-program.ts';
import { WINDOWS_MIN, kindOf, windowsOf } from './faults.ts';
import { gatesOf } from './gates.ts';
import type { WindowResult } from './gates.ts';
import { Soak } from './soak.ts';
import { startEmbeddedServer, startRealServer } from './soak-server.ts';
import { judgeWindow } from './judge.ts';
import type { WindowRecord } from './window-record.ts';

interface Flags {
  readonly minutes: string;
  readonly hours?: string;
  readonly windows?: string;
  readonly seed: string;
  readonly embedded?: true;
  readonly json?: string;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A stranger sees the whole record of the first window that is wrong. */
const RECORD = '.cache/soak-record.json';

const flags = new Command('npm run suite -- soak')
  .description('load and faults for hours; fails when a gate is not met')
  .option('--minutes <count>', 'how long', '10')
  .option('--hours <count>', 'how long, in place of minutes')
  .option('--windows <count>', 'this many windows, however long they take')
  .option('--seed <number>', 'seed of the order of faults', '1')
  .option('--embedded', 'at the embedded apiserver, without Go')
  .option('--json <file>', 'write windows and gates to this file')
  .parse()
  .opts<Flags>();

const lastsMs = flags.hours === undefined ? Number(flags.minutes) * MINUTE_MS : Number(flags.hours) * HOUR_MS;
const seed = Number(flags.seed);
const wanted = Number(flags.windows ?? WINDOWS_MIN);
for (const [name, value] of Object.entries({ duration: lastsMs, seed, windows: wanted }))
  if (!Number.isFinite(value)) throw new RangeError(`the ${name} is not a number`);

if (!flags.embedded && !goAvailable()) {
  console.error(
    'a real kube-apiserver is built with Go, which is not installed: pass --embedded, or install Go',
  );
  process.exit(1);
}

const results: WindowResult[] = [];
const startedMs = performance.now();
const isOver = (): boolean =>
  flags.windows === undefined
    ? results.length >= WINDOWS_MIN && performance.now() - startedMs >= lastsMs
    : results.length >= wanted;

{
  await using server = flags.embedded ? await startEmbeddedServer() : await startRealServer();
  await using soak = await Soak.start(server);
  for (const planned of windowsOf(seed)) {
    const record = await soak.run(planned);
    const violations = [...soak.failures, ...judgeWindow(record)];
    const { rest, faults, writes } = record;
    results.push({ violations, rest, faults: faults.length, changes: writes.length });
    print(record, violations);
    if (violations.length > 0) writeFileSync(RECORD, JSON.stringify(record, jsonOf));
    if (isOver() || soak.failures.length > 0) break;
  }
  if (soak.failures.length === 0) await soak.stop();
}
const gates = gatesOf(results);
const failed = gates.filter(({ isMet }) => !isMet);
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.version}, load ${loadavg()
  .map((load) => load.toFixed(1))
  .join(' ')}`;
const changes = results.reduce((sum, window) => sum + window.changes, 0);
const minutes = (performance.now() - startedMs) / MINUTE_MS;
console.log(
  `\n${results.length} windows in ${minutes.toFixed(1)} minutes, ${changes} changes, seed ${seed}; ${machine}`,
);
for (const { name, isMet, seen } of gates)
  console.log(`${isMet ? 'passed' : 'FAILED'}  ${name.padEnd(44)} ${seen}`);
console.log(`${gates.length - failed.length} passed, ${failed.length} failed`);
if (failed.length > 0)
  console.log(`the last wrong window: ${RECORD}; again: npm run suite -- soak --seed ${seed}`);
if (flags.json !== undefined)
  writeFileSync(flags.json, JSON.stringify({ machine, seed, gates, windows: results }, undefined, 1));
process.exitCode = failed.length === 0 ? 0 : 1;

function print({ index, faults, writes, rest }: WindowRecord, violations: readonly string[]): void {
  const memory = `RSS ${(rest.rssBytes / 2 ** 20).toFixed(0)} MiB, heap ${(rest.heapBytes / 2 ** 20).toFixed(1)} MiB`;
  const counts = `${rest.descriptors} descriptors, ${rest.threads} threads, ${rest.listeners} listeners`;
  const struck = faults.map((fault) => `${kindOf(fault).strikes}: ${fault}`).join('; ') || 'no fault';
  console.log(`window ${index}: ${writes.length} changes, ${memory}, ${counts}\n  ${struck}`);
  for (const violation of violations) console.log(`  WRONG ${violation}`);
}

function jsonOf(_key: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value;
}
