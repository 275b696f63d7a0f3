/**
 * Reflector and shards on separate threads: a Worker with an event loop for the reflector, a pool with a single thread
 * for each shard.
 */
import { realTimers } from '../../base/clock.ts';
import type { BackendEvents, Role, StartingBackend } from './backend.ts';
import { PipelineWords } from '../../shared/pipeline-layout.ts';
import type { PipelineMemory } from '../../shared/pipeline-layout.ts';
import type {
  FromReflectorThread,
  FromShard,
  ToReflectorThread,
  ToReflectorWorker,
  ToShard,
} from '../../shared/protocol.ts';
import { MessageChannel, MessagePort, Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import type { ShardTask } from '../../indexer/shard-loop.ts';
import type { ReflectorTask } from '../../reflector/create-reflector.ts';
import { existsSync } from 'node:fs';
import { KubeloomError } from '../../base/errors.ts';

/** Time for a thread to end after `shutdown`; after that it is terminated. */
const CLOSE_TIMEOUT_MS = 5000;

export interface WorkerTimes {
  /** Longest time between two heartbeats of an idle shard. */
  readonly heartbeatMs: number;
  /** Longest time between two reads of the sockets. */
  readonly readWindowMs: number;
}

export class WorkerBackend implements StartingBackend {
  readonly #memory: PipelineMemory;
  readonly #events: BackendEvents;
  readonly #words: PipelineWords;
  readonly #times: WorkerTimes;
  readonly #reflector: WorkerThread<ToReflectorWorker>;
  readonly #shards: readonly WorkerThread<ToShard>[];
  readonly ready: Promise<void>;
  #ready: () => void = () => undefined;
  #readyThreads = 0;
  /** True when no message and no death of a thread counts any longer. */
  #isClosing = false;

  constructor(memory: PipelineMemory, events: BackendEvents, times: WorkerTimes) {
    this.#memory = memory;
    this.#events = events;
    this.#times = times;
    this.#words = new PipelineWords(memory);
    this.ready = new Promise((resolve) => (this.#ready = resolve));
    // A bundle without this entry is reported to the caller.
    workerUrl('indexer');
    this.#reflector = this.#startReflector();
    this.#shards = memory.toShard.map((_, shard) => this.#startShard(shard));
  }

  toReflector(message: ToReflectorThread): void {
    this.#reflector.post(message);
    this.#words.controlBell.ring();
  }

  toShard(shard: number, message: ToShard): void {
    this.#shards[shard]?.post(message);
    // The event loop of a parked shard is blocked; the bell makes the shard poll the port.
    this.#words.shard(shard).bell.ring();
  }

  readonly isThreaded = true;

  /** A shard's wait for the bell ends in time; the reflector waits for sockets and messages. */
  askForHeartbeats(): void {
    this.#reflector.post({ type: 'beat' });
  }

  async end(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  publishUsage(): void {}

  unref(): void {
    for (const thread of this.#threads) thread.unref();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.toReflector({ type: 'shutdown' });
    this.#shards.forEach((_, shard) => this.toShard(shard, { type: 'shutdown' }));
    await Promise.all(this.#threads.map((thread) => endSoon(thread)));
  }

  get #threads(): readonly WorkerThread<never>[] {
    return [this.#reflector, ...this.#shards];
  }

  #startReflector(): WorkerThread<ToReflectorWorker> {
    const { readWindowMs } = this.#times;
    return startReflectorThread(this.#memory, readWindowMs, {
      message: (message) => this.#received(message, () => this.#events.fromReflector(message)),
      died: (cause) => this.#died('reflector', cause),
    });
  }

  #startShard(index: number): WorkerThread<ToShard> {
    const { heartbeatMs } = this.#times;
    return startShardThread(
      { index, memory: this.#memory, heartbeatMs },
      {
        message: (message) => this.#received(message, () => this.#events.fromShard(index, message)),
        died: (cause) => this.#died(index, cause),
      },
    );
  }

  #received({ type }: FromReflectorThread | FromShard, pass: () => void): void {
    if (type === 'ready' && ++this.#readyThreads === this.#threads.length) this.#ready();
    if (type !== 'ready' && !this.#isClosing) pass();
  }

  /** Reports the end of a thread, unless the backend ends them. */
  #died(role: Role, cause: unknown): void {
    if (!this.#isClosing) this.#events.died(role, cause);
  }
}

/** Waits for a thread that received `shutdown`, then terminates it. */
async function endSoon(thread: WorkerThread<never>): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => {
    const timer = realTimers.setTimeout(resolve, CLOSE_TIMEOUT_MS);
    cancel = () => realTimers.clearTimeout(timer);
  });
  await Promise.race([thread.ended, late]);
  cancel();
  await thread.end();
}

interface WorkerThreadEvents<From> {
  readonly message: (message: From) => void;
  /** Reports that the thread threw or ended, on request or not; may be called more than once. */
  readonly died: (cause: unknown) => void;
}

interface WorkerThread<To> {
  /** Resolves when the thread's work is over, by itself or by `end`. */
  readonly ended: Promise<void>;
  post(message: To): void;
  unref(): void;
  /** Terminates the thread during any work; resolves after the exit. */
  end(): Promise<void>;
}

function startReflectorThread(
  memory: PipelineMemory,
  readWindowMs: number,
  events: WorkerThreadEvents<FromReflectorThread>,
): WorkerThread<ToReflectorWorker> {
  const { port1: port, port2 } = new MessageChannel();
  port.on('message', events.message);
  const workerData: ReflectorTask = { memory, port: port2, readWindowMs };
  const worker = new Worker(workerUrl('reflector'), {
    workerData,
    transferList: [port2],
    name: 'kubeloom-reflector',
  });
  worker.on('error', events.died);
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      // Also reports exit code 0; the caller ignores the end of a thread that it terminated.
      events.died(new Error(`exit code ${code}`));
      resolve();
    });
  });
  return {
    ended,
    post: (message) => port.postMessage(message),
    unref: () => {
      worker.unref();
      port.unref();
    },
    end: async () => {
      await worker.terminate();
      await ended;
      port.close();
    },
  };
}

/**
 * Starts a shard: an endless task in a separate Piscina pool. A single pool for all shards could terminate a thread by
 * the task's abort signal, but reports neither which thread that was nor the thread's exit, and a new thread may use the
 * shard's memory only after the exit. It would also need `unrefPort`.
 */
function startShardThread(
  task: Omit<ShardTask, 'port'>,
  events: WorkerThreadEvents<FromShard>,
): WorkerThread<ToShard> {
  const { port1: port, port2 } = new MessageChannel();
  port.on('message', events.message);
  const started = startPool({ ...task, port: port2 }, port2);
  const ended = started
    .then(({ task: running }) => running)
    .then(
      () => events.died(new Error('its task returned')),
      (error: unknown) => events.died(error),
    );
  return {
    ended,
    post: (message) => port.postMessage(message),
    unref: () => {
      port.unref();
      void started.then(({ worker }) => worker).then(unrefPort, () => undefined);
    },
    end: async () => {
      port.close();
      // A pool that could not be loaded has no thread.
      const running = await started.catch(() => undefined);
      await running?.pool.destroy();
      await running?.exited;
      // If the thread threw and exits after the first call, Piscina has replaced it.
      await running?.pool.destroy();
    },
  };
}

interface StartedPool {
  readonly pool: Piscina;
  readonly worker: Promise<object>;
  readonly exited: Promise<unknown>;
  /** Settles when the shard's task does. */
  readonly task: Promise<unknown>;
}

/** Loads Piscina with the first worker thread: it takes 7 MB of resident memory. */
async function startPool(task: ShardTask, port: MessagePort): Promise<StartedPool> {
  const { Piscina: Pool } = await import('piscina');
  const pool = new Pool({
    filename: fileURLToPath(workerUrl('indexer')),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Infinity,
    atomics: 'disabled',
    recordTiming: false,
  });
  // Ignore errors of a thread without a task: the end of the task was already reported.
  pool.on('error', () => undefined);
  const worker = new Promise<object>((resolve) => pool.once('workerCreate', resolve));
  const exited = Promise.all(
    pool.threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve))),
  );
  const running: Promise<unknown> = pool.run(task, { transferList: [port] });
  running.catch(() => undefined);
  return { pool, worker, exited, task: running };
}

/**
 * Unrefs the private MessagePort of a pool's worker. Piscina refs this port while a task runs, and a shard's task never
 * ends. Piscina offers no API to unref it, so this function finds the port behind a symbol of the worker that
 * `workerCreate` passes.
 */
function unrefPort(worker: object): void {
  for (const symbol of Object.getOwnPropertySymbols(worker)) {
    const info: unknown = Reflect.get(worker, symbol);
    if (typeof info === 'object' && info !== null && 'port' in info && info.port instanceof MessagePort) {
      info.port.unref();
    }
  }
}

/**
 * Entry files by thread. Entries that Piscina loads are CommonJS, for the reason given in these files. A CommonJS
 * bundle may name an entry `.js`.
 */
const ENTRIES: Readonly<Record<'reflector' | 'indexer' | 'reconciler', readonly string[]>> = {
  reflector: ['reflector.js'],
  indexer: ['indexer.cjs', 'indexer.js'],
  reconciler: ['reconciler.cjs', 'reconciler.js'],
};

/** @throws ERR_KUBELOOM_WORKER_FILE in a bundle without the entry */
export function workerUrl(name: keyof typeof ENTRIES): URL {
  // In a CommonJS bundle `import.meta.url` is undefined, unless the bundler defines it.
  const here = import.meta.url as string | undefined;
  if (!here) throw noWorkerFile(name, 'in a CommonJS bundle without import.meta.url');
  const isSource = here.endsWith('.ts');
  const candidates = ENTRIES[name]
    .flatMap((entry) => [
      // Beside a bundle: dist/lib, or a bundle of the user's.
      `./workers/${entry}`,
      `../../../workers/${isSource ? entry.replace('js', 'ts') : entry}`,
    ])
    .map((path) => new URL(path, here));
  const found = candidates.find((url) => existsSync(fileURLToPath(url)));
  if (found) return found;
  throw noWorkerFile(name, `at ${candidates.map(String).join(' or ')}`);
}

function noWorkerFile(name: string, where: string): KubeloomError {
  const message =
    `the thread entry ${name} was not found ${where}: emit kubeloom/workers/* beside the bundle as docs/bundling.md says, ` +
    'or run without threads';
  return new KubeloomError('ERR_KUBELOOM_WORKER_FILE', message);
}
