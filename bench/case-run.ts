/**
 * Runs one case. Every client is a process of its own on the same source. The clients take turns, round after
 * round, so that changes in the machine's speed affect all of them.
 */
import type { BenchCase } from './case.ts';
import { prepareClient } from './clients.ts';
import { figuresOf } from './figures.ts';
import type { ClientName } from './names.ts';
import type { Origin } from './origin.ts';
import { runProgramOn } from './program-run.ts';
import { rowsOf } from './row.ts';
import type { Row, Run } from './row.ts';
import type { Task } from './task.ts';

export interface CaseRunOptions {
  readonly rounds: number;
  /** Only these clients, when given. */
  readonly clients: readonly ClientName[] | undefined;
  readonly onRun: (client: ClientName, round: number, run: Run) => void;
}

/** Returns the clients of the case, in the order of a round. */
export function clientsOf(benchCase: BenchCase, wanted: readonly ClientName[] | undefined): ClientName[] {
  const all = Object.keys(benchCase.clients) as ClientName[];
  return wanted === undefined ? all : all.filter((client) => wanted.includes(client));
}

export async function runCase(benchCase: BenchCase, origin: Origin, options: CaseRunOptions): Promise<Row[]> {
  const clients = clientsOf(benchCase, options.clients);
  const runs = new Map<ClientName, Run[]>(clients.map((name) => [name, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const client of clients) {
      const run = await runClient(client, taskOf(benchCase, client, origin), origin);
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
    ...(ca === '' ? {} : { ca }),
    events: clients[client] ?? 0,
    objects: source.pods,
  };
}

async function runClient(client: ClientName, task: Task, origin: Origin): Promise<Run> {
  const program = await prepareClient(client, task.case);
  if ('notMeasured' in program) {
    return { figures: [], shards: null, error: `not measured: ${program.notMeasured}` };
  }
  const over = new AbortController();
  const accompanied = origin.accompany(over.signal);
  const ended = await runProgramOn(program.command, task);
  over.abort();
  await accompanied;
  if ('error' in ended) return { figures: [], shards: null, error: ended.error };
  return { figures: figuresOf(task, ended.outcome), shards: ended.outcome.shards ?? null };
}
