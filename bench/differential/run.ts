/**
 * `npm run differential -- [--client NAME…] [--case NAME…] [--rounds N] [--json FILE] [--markdown FILE]`: the
 * same faults for every client. Each run has a server of its own, and several run at a time. A client that
 * loses data does not fail the command; the table shows it. The exit code is 1 when a run is invalid.
 */
import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { describeMachine } from '../document.ts';
import { FAULT_CASES } from './cases.ts';
import type { FaultCase } from './cases.ts';
import { CLIENT_KINDS, readyClient } from './client-kinds.ts';
import type { ReadyClient } from './client-kinds.ts';
import { RECOVERY_MS_MAX, runCase } from './run-case.ts';
import type { CaseRun } from './run-case.ts';
import { LOAD_RATE } from './scene.ts';
import { differentialSection, verdictOf } from './section.ts';
import type { DifferentialResults } from './section.ts';

interface Flags {
  readonly client: readonly string[];
  readonly case: readonly string[];
  readonly rounds: number;
  readonly seed: number;
  readonly parallel: number;
  readonly json?: string;
  readonly markdown?: string;
}

type Planned = readonly [FaultCase, ReadyClient, number];

function named<Named extends { readonly name: string }>(
  all: readonly Named[],
  names: readonly string[],
): Named[] {
  const unknown = names.filter((name) => all.every((one) => one.name !== name));
  if (unknown.length > 0) {
    const known = all.map(({ name }) => name).join(', ');
    throw new InvalidArgumentError(`there is no ${unknown.join(', ')}; known: ${known}`);
  }
  return all.filter(({ name }) => names.length === 0 || names.includes(name));
}

function whole(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('a whole number from 1');
  return number;
}

function parseFlags(): Flags {
  return new Command('differential')
    .option('--client <name...>', 'only these clients', [])
    .option('--case <name...>', 'only these cases', [])
    .option('--rounds <n>', 'how often each case is run, with a seed of its own', whole, 1)
    .option('--seed <n>', 'of the first round; each later round adds 1', whole, 1)
    .option('--parallel <n>', 'runs at a time', whole, CLIENT_KINDS.length)
    .option('--json <file>', 'write all results')
    .option('--markdown <file>', 'write the section for docs/reliability.md')
    .parse()
    .opts<Flags>();
}

/** Runs the cases, up to `parallel` at a time. */
async function runAll(planned: readonly Planned[], parallel: number): Promise<CaseRun[]> {
  const runs: CaseRun[] = [];
  const left = [...planned];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const run = await runCase(...next);
      runs.push(run);
      print(`${runs.length}/${planned.length} ${run.case} ${run.client} seed ${run.seed}: ${verdictOf(run)}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return runs;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<void> {
  const flags = parseFlags();
  const [cases, wanted] = [named(FAULT_CASES, flags.case), named(CLIENT_KINDS, flags.client)];
  const [started, startedAt] = [performance.now(), new Date().toISOString()];
  const versions: Record<string, string> = {};
  const clients: ReadyClient[] = [];
  for (const client of wanted) {
    const ready = await readyClient(client);
    versions[client.name] = typeof ready === 'string' ? `(not measured: ${ready})` : '';
    if (typeof ready !== 'string') clients.push(ready);
  }
  const seeds = Array.from({ length: flags.rounds }, (_, round) => flags.seed + round);
  const planned = seeds.flatMap((seed) =>
    cases.flatMap((faultCase) => clients.map((client) => [faultCase, client, seed] as const)),
  );
  const runs = await runAll(planned, flags.parallel);
  for (const { client, version } of runs) versions[client] ||= version ?? 'unknown';
  const results: DifferentialResults = {
    machine: describeMachine(),
    versions,
    seeds,
    loadRate: LOAD_RATE,
    recoveryMsMax: RECOVERY_MS_MAX,
    startedAt,
    elapsedMs: performance.now() - started,
    runs,
  };
  const section = differentialSection(results);
  print(`\n${section}`);
  if (flags.json !== undefined) await writeFile(flags.json, `${JSON.stringify(results, undefined, 2)}\n`);
  if (flags.markdown !== undefined) await writeFile(flags.markdown, section);
  const invalid = runs.filter((run) => run.invalid !== undefined).length;
  print(
    `${runs.length - invalid} runs valid, ${invalid} invalid, in ${Math.round(results.elapsedMs / 1000)} s`,
  );
  process.exitCode = invalid === 0 ? 0 : 1;
}

await main();
