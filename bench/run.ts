/**
 * Runs the selected suites in order; consecutive cases on the same source share the source's process. Every client is a
 * separate process.
 */
import type { RunOptions } from './arguments.ts';
import { belongsTo, clientsOf, distinct, roundsOf, sized, withClients } from './case.ts';
import type { BenchCase } from './case.ts';
import type { ClientName } from './names.ts';
import { originKey, startOrigin } from './origin.ts';
import type { Origin } from './origin.ts';
import type { Row, Run } from './row.ts';
import { SUITE_CASES } from './suites.ts';
import { numberText, sizeText } from './table-text.ts';
import { prepareClient } from './clients.ts';
import { figuresOf } from './figures.ts';
import { runProgramOn } from './program-run.ts';
import { rowsOf } from './row.ts';
import type { Task } from './task.ts';

/** Returns all cases to run, in order, at their size, with the wanted clients. */
export function plan({ suites, level, caseText, clients }: RunOptions): BenchCase[] {
  const cases = suites
    .flatMap((suite) => SUITE_CASES[suite])
    .filter((benchCase) => belongsTo(benchCase, level) && benchCase.name.includes(caseText))
    .map((benchCase) => withClients(sized(benchCase, level), clients))
    .filter((benchCase) => clientsOf(benchCase).length > 0);
  return level === 'smoke' ? distinct(cases) : cases;
}

export function roundsFor(benchCase: BenchCase, { rounds, level }: RunOptions): number {
  return rounds ?? roundsOf(benchCase, level);
}

export async function runPlan(
  cases: readonly BenchCase[],
  runOptions: RunOptions,
  onProgress: (line: string) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  await using origins = new OriginHolder();
  for (const benchCase of cases) {
    const origin = await origins.get(benchCase);
    const onRun = (client: ClientName, round: number, run: Run): void =>
      onProgress(progressLine(benchCase, client, round, run));
    rows.push(
      ...(await runCase(benchCase, origin, {
        rounds: roundsFor(benchCase, runOptions),
        onRun,
      })),
    );
  }
  return rows;
}

function progressLine(benchCase: BenchCase, client: ClientName, round: number, run: Run): string {
  const { suite, name, source, task } = benchCase;
  const cpu = run.figures.find(({ unit }) => unit === 'cpu-us/event');
  const shown = [...new Set([run.figures[0], cpu])].filter((figure) => figure !== undefined);
  const texts = shown.map(({ value, unit }) => `${numberText(value)} ${unit}`);
  const result = shown.length === 0 ? (run.error ?? '') : texts.join(', ');
  return `${suite}: ${name}, ${sizeText(source.objectBytes)}, ${task.handler}: ${client} #${round + 1}: ${result}`;
}

/** The origin of the last case, kept while the next case uses the same origin. */
class OriginHolder implements AsyncDisposable {
  #key = '';
  #origin: Origin | undefined;

  async get(benchCase: BenchCase): Promise<Origin> {
    const key = originKey(benchCase);
    if (this.#origin !== undefined && key === this.#key) return this.#origin;
    await this.#origin?.close();
    this.#origin = await startOrigin(benchCase);
    this.#key = key;
    return this.#origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#origin?.close();
  }
}

interface CaseRunOptions {
  readonly rounds: number;
  readonly onRun: (client: ClientName, round: number, run: Run) => void;
}

/**
 * Runs a case. The clients take turns, round after round, so that changes in the machine's speed affect all of them.
 */
async function runCase(benchCase: BenchCase, origin: Origin, options: CaseRunOptions): Promise<Row[]> {
  const clients = clientsOf(benchCase);
  const runs = new Map<ClientName, Run[]>(clients.map((name) => [name, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const client of clients) {
      const run = await runClient(client, benchCase, origin);
      runs.get(client)?.push(run);
      options.onRun(client, round, run);
    }
  }
  return rowsOf(benchCase, runs);
}

function taskOf({ task, source, clients }: BenchCase, client: ClientName, { url, ca }: Origin): Task {
  return {
    resource: source.resource ?? 'pods',
    ...task,
    url,
    // As from a kubeconfig; the source accepts any token.
    ...(ca === '' ? {} : { ca, token: 'bench' }),
    events: clients[client] ?? 0,
    objects: source.pods,
  };
}

async function runClient(client: ClientName, benchCase: BenchCase, origin: Origin): Promise<Run> {
  const task = taskOf(benchCase, client, origin);
  const program = await prepareClient(client, task);
  if ('notMeasured' in program) {
    return { figures: [], shards: null, version: null, error: `not measured: ${program.notMeasured}` };
  }
  const over = new AbortController();
  const accompanied = origin.accompany(over.signal);
  const ended = await runProgramOn(program.command, task, benchCase.oneCoreHeapMiB);
  over.abort();
  await accompanied;
  if ('error' in ended) return { figures: [], shards: null, version: null, error: ended.error };
  const { outcome } = ended;
  const version = [outcome.version, outcome.runtime ?? ''].filter((text) => text !== '').join(', ');
  return { figures: figuresOf(task, outcome), shards: outcome.shards ?? null, version };
}
