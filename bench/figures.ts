/** Selects the figures of an outcome to publish, by the kind of the case. */
import type { Figure } from './row.ts';
import type { Outcome, Task } from './task.ts';

const MS_PER_US = 1e-3;

export function figuresOf(task: Task, outcome: Outcome): Figure[] {
  return [...mainFigures(task, outcome), ...commonFigures(outcome)];
}

function mainFigures(task: Task, outcome: Outcome): Figure[] {
  const { events, elapsedMs, rssBytes } = outcome;
  const highestMemory: Figure = { suffix: 'rss-max', unit: 'bytes', value: rssBytes };
  switch (task.case) {
    case 'watch':
    case 'thread-handler':
      return [
        { suffix: '', unit: 'events/s', value: (events / elapsedMs) * 1000 },
        ...rowFigures(outcome),
        highestMemory,
      ];
    case 'latency':
      return latencyFigures(outcome);
    case 'memory':
      return memoryFigures(task, outcome);
    case 'readers':
    case 'micro':
    case 'metrics':
    case 'partitions':
    case 'start':
    case 'thread-scan':
    case 'thread-memory':
    case 'thread-idle':
      return rowFigures(outcome);
    case 'rest':
      return [...rowFigures(outcome), highestMemory];
    default:
      return [{ suffix: '', unit: 'ms', value: elapsedMs }, highestMemory];
  }
}

function rowFigures({ rows = [] }: Outcome): Figure[] {
  return rows.map(({ case: suffix, unit, value }) => ({
    suffix,
    unit: unit === 'reads/s' ? 'events/s' : unit,
    value,
  }));
}

function latencyFigures({ latency }: Outcome): Figure[] {
  if (latency === undefined) return [];
  const { p50Us, p90Us, p99Us, p999Us, maxUs } = latency;
  const percentiles = { p50: p50Us, p90: p90Us, p99: p99Us, 'p99.9': p999Us, max: maxUs };
  return Object.entries(percentiles).map(([suffix, us]) => ({ suffix, unit: 'ms', value: us * MS_PER_US }));
}

/** An object's share of the whole process. */
function memoryFigures({ objects }: Task, outcome: Outcome): Figure[] {
  const { rssBytes, settledBytes, heapBytes, bufferBytes } = outcome;
  const all = { rss: settledBytes, 'rss-max': rssBytes, heap: heapBytes, buffers: bufferBytes };
  return Object.entries(all).flatMap(([suffix, bytes]) =>
    bytes === undefined ? [] : [{ suffix: `${suffix}-per-object`, unit: 'bytes', value: bytes / objects }],
  );
}

/** The figures of every case: CPU time with the main thread's part, and the delay of the main thread's event loop. */
function commonFigures({ cpuMs, mainThreadCpuMs = 0, events, loopDelay }: Outcome): Figure[] {
  const figures: Figure[] = [];
  if (events > 0) figures.push({ suffix: '', unit: 'cpu-us/event', value: (cpuMs * 1000) / events });
  if (events > 0 && mainThreadCpuMs > 0) {
    figures.push({ suffix: 'main-thread', unit: 'cpu-us/event', value: (mainThreadCpuMs * 1000) / events });
  }
  if (loopDelay === undefined) return figures;
  const { p99Ms, maxMs, ownP99Ms, ownMaxMs } = loopDelay;
  const delays = { p99: p99Ms, max: maxMs, 'own-p99': ownP99Ms, 'own-max': ownMaxMs };
  for (const [suffix, value] of Object.entries(delays)) {
    if (value !== undefined) figures.push({ suffix: `loop-delay-${suffix}`, unit: 'ms', value });
  }
  return figures;
}
