/** kubeloom's cache in other threads: `node kubeloom-threads.js TASK`. reading-thread.ts is the thread. */
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import type { KubeObject, SharedCache } from '../../src/index.ts';
import { FIRST_REVISION } from '../source/object-templates.ts';
import type { LoopDelay, OutcomeRow, Task } from '../task.ts';
import { collectedHeapBytes } from './collected-heap.ts';
import { loadKubeConfig, resourceRef } from './connection.ts';
import { Meter } from './meter.ts';
import { packageVersion, runProgram } from './program.ts';
import type { Result } from './program.ts';
import type { ThreadAnswer, ThreadCommand } from './reading-thread.ts';
import { median, variantRows } from './sections.ts';

type Informer = SharedIndexInformer<KubeObject>;

const THREAD = new URL('./reading-thread.js', import.meta.url);
const SCAN_TURNS = 3;
const SETTLE_MS = 500;

/** A thread of the program; it reads no cache before `open`. */
class ReadingThread {
  readonly #worker: Worker;
  /** Rejects when the thread fails. */
  readonly #failed: Promise<never>;
  checksum = 0;

  constructor() {
    this.#worker = new Worker(THREAD, { env: { ...process.env, NODE_ENV: 'production' } });
    this.#failed = once(this.#worker, 'error').then(([error]) => {
      throw error as Error;
    });
    this.#failed.catch(() => undefined);
  }

  async ask(command: ThreadCommand): Promise<number> {
    const answered = once(this.#worker, 'message');
    this.#worker.postMessage(command, command.type === 'open' ? command.port.transferList : []);
    const [{ value, checksum }] = (await Promise.race([answered, this.#failed])) as [ThreadAnswer];
    this.checksum = checksum;
    return value;
  }

  async open(cache: SharedCache): Promise<void> {
    await this.ask({ type: 'open', port: cache.port() });
  }
}

/** One thread and two take turns; the delays are those of the main thread meanwhile. */
async function scans(informer: Informer, { cellMs }: Task): Promise<Result> {
  await informer.waitForSync();
  const cache = informer.share();
  const threads = [new ReadingThread(), new ReadingThread()];
  await Promise.all(threads.map((thread) => thread.open(cache)));
  const turns = cellMs === undefined ? SCAN_TURNS : 1;
  const scan = async (parts: number): Promise<{ elapsedMs: number; loopDelay: LoopDelay }> => {
    await after(cellMs ?? SETTLE_MS);
    const meter = new Meter();
    const reading = threads.slice(0, parts);
    await Promise.all(reading.map((thread, part) => thread.ask({ type: 'scan', part, parts })));
    return meter.stop();
  };
  const one: Awaited<ReturnType<typeof scan>>[] = [];
  const two: typeof one = [];
  for (let turn = 0; turn < turns; turn++) {
    one.push(await scan(1));
    two.push(await scan(2));
  }
  const times = (of: typeof one): number => median(of.map(({ elapsedMs }) => elapsedMs));
  const ratio = median(two.map(({ elapsedMs }, turn) => elapsedMs / (one[turn]?.elapsedMs ?? Number.NaN)));
  const rows: OutcomeRow[] = [
    { case: 'one thread', unit: 'ms', value: times(one) },
    { case: 'two threads', unit: 'ms', value: times(two) },
    { case: 'two threads/one', unit: 'ratio', value: ratio },
    ...delayRows(
      'one thread',
      one.map(({ loopDelay }) => loopDelay),
    ),
    ...delayRows(
      'two threads',
      two.map(({ loopDelay }) => loopDelay),
    ),
  ];
  return { rows, checksum: threads.reduce((sum, { checksum }) => sum + checksum, 0) };
}

/** The worst of all scans. */
function delayRows(name: string, delays: readonly LoopDelay[]): OutcomeRow[] {
  const figures = { 'own-p99': 'ownP99Ms', 'own-max': 'ownMaxMs', max: 'maxMs' } as const;
  return Object.entries(figures).flatMap(([figure, field]): OutcomeRow[] => {
    const values = delays.flatMap((delay) => delay[field] ?? []);
    return values.length === 0 ? [] : [{ case: `${name}/${figure}`, unit: 'ms', value: Math.max(...values) }];
  });
}

/** The main thread's memory and that of the thread, before the thread has the cache and with it. */
async function memory(informer: Informer, { objects, settleMs = SETTLE_MS }: Task): Promise<Result> {
  await informer.waitForSync();
  const thread = new ReadingThread();
  await after(settleMs);
  const bytesOf = async (): Promise<readonly [main: number, thread: number]> => {
    const main = collectedHeapBytes() + process.memoryUsage().arrayBuffers;
    return [main, await thread.ask({ type: 'bytes' })];
  };
  const before = await bytesOf();
  await thread.open(informer.share());
  await after(settleMs);
  const [main, own] = (await bytesOf()).map((bytes, index) => bytes - (before[index] ?? 0));
  const rows: OutcomeRow[] = [
    { case: 'added-per-object', unit: 'bytes', value: ((main ?? 0) + (own ?? 0)) / objects },
    { case: 'thread-per-object', unit: 'bytes', value: (own ?? 0) / objects },
  ];
  return { rows };
}

/** From the first event to the last in the main thread's cache; `handled` are the calls of the thread's handler meanwhile. */
async function handler(informer: Informer, { events, objects }: Task): Promise<Result> {
  await informer.waitForSync();
  const thread = new ReadingThread();
  await thread.open(informer.share());
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

/** A watch at full rate, with a thread that follows it and has no handlers, and without. */
async function idle(informer: Informer, { cellMs }: Task): Promise<Result> {
  const thread = new ReadingThread();
  const begin = async (): Promise<() => Promise<void>> => {
    await thread.open(informer.share());
    return async () => void (await thread.ask({ type: 'close' }));
  };
  return await variantRows(informer, [{ name: 'alone' }, { name: 'attached', begin }], cellMs);
}

async function run(task: Task): Promise<Result> {
  const config = loadKubeConfig(new KubeConfig(), task);
  const threads = new InformerThreads();
  const options = { threads, borrowChecks: 'off' } as const;
  const informer = new SharedIndexInformer<KubeObject>(config, resourceRef(task.resource), options);
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
