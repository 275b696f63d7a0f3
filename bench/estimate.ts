/**
 * A rough estimate of a plan's duration, for a quiet machine with two cores. The command prints it before it starts.
 */
import type { RunOptions } from './arguments.ts';
import { roundsFor } from './run.ts';
import { clientsOf } from './case.ts';
import type { BenchCase } from './case.ts';
import type { ClientName } from './names.ts';
import { originKey } from './origin.ts';

/** Objects synced and events handled a second, on two cores. */
const OBJECTS_PER_SECOND: Readonly<Record<ClientName, number>> = {
  kubeloom: 60_000,
  'kubeloom-lts': 60_000,
  limit: 400_000,
  'client-node': 8000,
  'client-node-2': 10_000,
  'kubernetes-fluent-client': 8000,
  'client-go': 20_000,
  'client-go-protobuf': 20_000,
  'kube-rs': 40_000,
};
const EVENTS_PER_SECOND: Readonly<Record<ClientName, number>> = {
  ...OBJECTS_PER_SECOND,
  kubeloom: 100_000,
  'kubeloom-lts': 100_000,
};
const START_SECONDS = 1;
const MADE_PER_SECOND = 150_000;
/** Seconds of the kinds whose duration does not depend on the machine. */
const EXTRA_SECONDS: Readonly<Record<string, number>> = {
  memory: 4,
  latency: 10,
  relist: 8,
  readers: 6,
  micro: 8,
  metrics: 30,
  partitions: 70,
  'thread-scan': 20,
  'thread-handler': 5,
  'thread-memory': 20,
  'thread-idle': 30,
};

export function estimateSeconds(cases: readonly BenchCase[], runOptions: RunOptions): number {
  let seconds = 0;
  let origin = '';
  for (const benchCase of cases) {
    if (originKey(benchCase) !== origin) seconds += originSeconds(benchCase);
    origin = originKey(benchCase);
    const rounds = roundsFor(benchCase, runOptions);
    for (const client of clientsOf(benchCase)) seconds += rounds * runSeconds(benchCase, client);
  }
  return seconds;
}

/** The source makes all bytes first. */
function originSeconds({ source }: BenchCase): number {
  return START_SECONDS + (2 * source.pods) / MADE_PER_SECOND;
}

function runSeconds({ source, task, clients }: BenchCase, client: ClientName): number {
  const objects = source.pods * (task.informers ?? 1);
  const handled = (clients[client] ?? 0) * (task.handlers ?? 1);
  // Paced events take the same time with every client; the extra seconds include it.
  const events = task.case === 'latency' ? 0 : handled;
  const work = objects / OBJECTS_PER_SECOND[client] + events / EVENTS_PER_SECOND[client];
  const { case: kind, settleMs = 0, cellMs = 0 } = task;
  const section = kind === 'rest' ? (settleMs + cellMs) / 1000 : (EXTRA_SECONDS[kind] ?? 0);
  const extra = section + (source.quietMs ?? 0) / 1000;
  return START_SECONDS + work + extra;
}

export function durationText(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}
