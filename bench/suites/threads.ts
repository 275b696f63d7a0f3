/**
 * The cache in other threads of the program: scans, whole-object handlers, memory, and the cost of a thread that only
 * follows. Only kubeloom offers this, so the goals are figures and ratios to kubeloom's own rows.
 */
import type { BenchCase, Goal } from '../case.ts';
import type { Handler, TaskKind } from '../task.ts';
import { POD_BYTES, atMost, each, still } from './common.ts';

const SCANNED = 100_000;
const SETTLE_MS = 15_000;
const EVENTS = 120_000;

interface Extra extends Pick<BenchCase, 'source'> {
  readonly goals: readonly Goal[];
  readonly events?: number;
  readonly settleMs?: number;
}

function threads(
  kind: TaskKind,
  name: string,
  handler: Handler,
  { source, goals, events = 0, settleMs }: Extra,
): BenchCase {
  const task = { case: kind, handler, ...(settleMs === undefined ? {} : { settleMs }) };
  return {
    suite: 'threads',
    name,
    tier: 'default',
    source,
    task,
    clients: each(['kubeloom'], events),
    goals,
  };
}

export const THREADS_CASES: readonly BenchCase[] = [
  threads('thread-scan', 'scans of 100,000 pods', 'object', {
    source: still(SCANNED),
    goals: [
      atMost(2, 'ms', 'one thread/own-p99'),
      atMost(10, 'ms', 'one thread/own-max'),
      atMost(0.6, 'ratio', 'two threads/one'),
    ],
  }),
  threads('thread-memory', '100,000 pods, one thread attached', 'key', {
    source: still(SCANNED),
    settleMs: SETTLE_MS,
    goals: [atMost(200, 'bytes', 'added-per-object')],
  }),
  threads('thread-handler', 'pods, handler in a thread', 'object', {
    // The thread is attached when the first event arrives.
    source: { pods: 10_000, objectBytes: POD_BYTES, events: 1_000_000, quietMs: 3000 },
    events: EVENTS,
    goals: [atMost(3, 'cpu-us/event', 'main-thread')],
  }),
  threads('thread-idle', 'pods, a thread without handlers', 'key', {
    // More than any machine reads in the time of the case.
    source: { pods: 10_000, objectBytes: POD_BYTES, events: 100_000_000 },
    goals: [{ unit: 'ratio', figure: 'attached/events/s', relation: 'at least', value: 0.95 }],
  }),
];
