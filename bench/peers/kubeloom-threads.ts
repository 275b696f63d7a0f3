/** kubeloom's cache in other threads: `node kubeloom-threads.js TASK`. reading-thread.ts is the thread. */
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { InformerThreads, SharedIndexInformer, defaultIndexerThreads } from '../../src/index.ts';
import type { KubeObject } from '../../src/index.ts';
import { FIRST_REVISION } from '../source/object-templates.ts';
import type { LoopDelay, OutcomeRow, Task } from '../task.ts';
import { collectedHeapBytes } from './collected-heap.ts';
import { connectionTo, resourceRef } from './connection.ts';
import { Meter } from './meter.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';
import type { ThreadAnswer, ThreadCommand } from './reading-thread.ts';
import { median, variantRows } from './sections.ts';
import { SharedCache } from '../../src/thread/index.ts';

type Informer = SharedIndexInformer<KubeObject>;

const THREAD = new URL('./reading-thread.js', import.meta.url);
const SCAN_TURNS = 3;
const SETTLE_MS = 500;

/** A thread of the program; it reads no cache before `open`. */
class ReadingThread {
  readonly #worker: Worker = new Worker(THREAD);
  checksum = 0;

  /** Rejects when the thread fails. */
  async ask(command: ThreadCommand): Promise<number> {
    const answered = once(this.#worker, 'message');
    this.#worker.postMessage(command, command.type === 'open' ? command.port.transferList : []);
    const [{ value, checksum }] = (await answered) as [ThreadAnswer];
    this.checksum = checksum;
    return value;
  }

  async open(cache: SharedCache): Promise<void> {
    await this.ask({ type: 'open', port: cache.port() });
  }
}

interface Scan {
  readonly elapsedMs: number;
  readonly loopDelay: LoopDelay;
  /** CPU time of the thread that needed more; a busy machine changes it less. */
  readonly cpuMs: number;
}

/** A single thread and two threads take turns; the delays are measured on the main thread at the same time. */
async function scans(informer: Informer, { cellMs }: Task): Promise<Result> {
  await informer.waitForSync();
  const cache = new SharedCache({ pods: informer });
  const threads = [new ReadingThread(), new ReadingThread()];
  await Promise.all(threads.map((thread) => thread.open(cache)));
  const scan = async (parts: number): Promise<Scan> => {
    await after(cellMs ?? SETTLE_MS);
    const meter = new Meter();
    const reading = threads.slice(0, parts);
    const cpusMs = await Promise.all(
      reading.map((thread, part) => thread.ask({ type: 'scan', part, parts })),
    );
    return { ...meter.stop(), cpuMs: Math.max(...cpusMs) };
  };
  const turns: { readonly one: Scan; readonly two: Scan }[] = [];
  for (let turn = 0; turn < (cellMs === undefined ? SCAN_TURNS : 1); turn++) {
    turns.push({ one: await scan(1), two: await scan(2) });
  }
  const ratio = (figure: 'elapsedMs' | 'cpuMs'): number =>
    median(turns.map(({ one, two }) => two[figure] / one[figure]));
  const rows: OutcomeRow[] = [
    { case: 'two threads/one', unit: 'ratio', value: ratio('elapsedMs') },
    { case: 'two threads/one, cpu', unit: 'ratio', value: ratio('cpuMs') },
    ...scanRows(
      'one thread',
      turns.map(({ one }) => one),
    ),
    ...scanRows(
      'two threads',
      turns.map(({ two }) => two),
    ),
  ];
  return { rows, checksum: threads.reduce((sum, { checksum }) => sum + checksum, 0) };
}

/** The median of the times, and the worst delays. */
function scanRows(name: string, runs: readonly Scan[]): OutcomeRow[] {
  const figures = { 'own-p99': 'ownP99Ms', 'own-max': 'ownMaxMs', max: 'maxMs' } as const;
  const delays = Object.entries(figures).flatMap(([figure, field]): OutcomeRow[] => {
    const values = runs.flatMap(({ loopDelay }) => loopDelay[field] ?? []);
    return values.length === 0 ? [] : [{ case: `${name}/${figure}`, unit: 'ms', value: Math.max(...values) }];
  });
  return [
    { case: name, unit: 'ms', value: median(runs.map(({ elapsedMs }) => elapsedMs)) },
    { case: `${name}/cpu`, unit: 'ms', value: median(runs.map(({ cpuMs }) => cpuMs)) },
    ...delays,
  ];
}

/**
 * The memory of the main thread and of the reading thread, before and after the thread opens the cache. The buffers of
 * the main thread are left out: small slabs move into shared memory, which Node does not count.
 */
async function memory(informer: Informer, { objects, settleMs = SETTLE_MS }: Task): Promise<Result> {
  await informer.waitForSync();
  const thread = new ReadingThread();
  await after(settleMs);
  const bytesOf = async (): Promise<readonly [main: number, thread: number]> => {
    const main = collectedHeapBytes();
    return [main, await thread.ask({ type: 'bytes' })];
  };
  const before = await bytesOf();
  await thread.open(new SharedCache({ pods: informer }));
  await after(settleMs);
  const [main, own] = (await bytesOf()).map((bytes, index) => bytes - (before[index] ?? 0));
  const rows: OutcomeRow[] = [
    { case: 'added-per-object', unit: 'bytes', value: ((main ?? 0) + (own ?? 0)) / objects },
    { case: 'thread-per-object', unit: 'bytes', value: (own ?? 0) / objects },
  ];
  return { rows };
}

/**
 * From the first event to the last in the main thread's cache; `handled` counts the calls of the thread's handler in
 * that time.
 */
async function handler(informer: Informer, { events, objects }: Task): Promise<Result> {
  await informer.waitForSync();
  const thread = new ReadingThread();
  await thread.open(new SharedCache({ pods: informer }));
  await thread.ask({ type: 'handle' });
  const first = FIRST_REVISION + objects + 1;
  await informer.waitForResourceVersion(String(first));
  const meter = new Meter();
  await informer.waitForResourceVersion(String(first + events));
  const measured = meter.stop();
  const updates = await thread.ask({ type: 'updates' });
  const rows: OutcomeRow[] = [
    { case: 'handled', unit: 'events/s', value: (updates / measured.elapsedMs) * 1000 },
  ];
  return { events, ...measured, rows, checksum: thread.checksum };
}

/** A watch at full rate, with a thread that follows it without handlers, and without a thread. */
async function idle(informer: Informer, { cellMs }: Task): Promise<Result> {
  const thread = new ReadingThread();
  const begin = async (): Promise<() => Promise<void>> => {
    await thread.open(new SharedCache({ pods: informer }));
    return async () => void (await thread.ask({ type: 'close' }));
  };
  return await variantRows(informer, [{ name: 'alone' }, { name: 'attached', begin }], cellMs);
}

async function run(task: Task): Promise<Result> {
  const threads = new InformerThreads({ indexerThreads: defaultIndexerThreads() });
  const informer = new SharedIndexInformer<KubeObject>(connectionTo(task), resourceRef(task.resource), {
    threads,
  });
  const failed = informer.run().then(() => {
    throw new Error('the informer has stopped');
  });
  const kinds: Readonly<Record<string, (informer: Informer, task: Task) => Promise<Result>>> = {
    'thread-scan': scans,
    'thread-memory': memory,
    'thread-handler': handler,
    'thread-idle': idle,
  };
  const measure = kinds[task.case];
  if (!measure) throw new Error(`no measurement for ${task.case}`);
  return { ...(await Promise.race([measure(informer, task), failed])), shards: threads.shards };
}

await runProgram('kubeloom', packageVersion(import.meta.url), run);
