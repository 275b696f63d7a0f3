/** The two kinds of threads: a Worker with an event loop for the reflector, a pool of one thread for each shard. */
import { MessageChannel, MessagePort, Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { ShardTask } from '../../indexer/shard-loop.ts';
import type { ReflectorTask } from '../../reflector/reflector-loop.ts';
import type { PipelineMemory } from '../../shared/layout.ts';
import type {
  FromReflectorThread,
  FromShard,
  StatsAnswer,
  StatsRequest,
  ToReflectorThread,
  ToShard,
} from '../../shared/protocol.ts';
import { existsSync } from 'node:fs';
import { KubeloomError } from '../../base/errors.ts';

export interface WorkerThreadEvents<From> {
  readonly message: (message: From | StatsAnswer) => void;
  /** Reports that the thread threw or ended, on request or not; may be called more than once. */
  readonly died: (cause: unknown) => void;
}

export interface WorkerThread<To> {
  /** Resolves when the thread's work has ended, by itself or by `end`. */
  readonly ended: Promise<void>;
  post(message: To | StatsRequest): void;
  unref(): void;
  /** Terminates the thread during any work; resolves when it has exited. */
  end(): Promise<void>;
}

export function startReflectorThread(
  memory: PipelineMemory,
  events: WorkerThreadEvents<FromReflectorThread>,
): WorkerThread<ToReflectorThread> {
  const { port1: port, port2 } = new MessageChannel();
  port.on('message', events.message);
  const workerData: ReflectorTask = { memory, port: port2 };
  const worker = new Worker(workerUrl('reflector'), {
    workerData,
    transferList: [port2],
    name: 'kubeloom-reflector',
  });
  worker.on('error', events.died);
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      // Report exit code 0, too; the caller ignores the end of a thread that it has terminated.
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
 * Starts a shard: one endless task in a Piscina pool of its own. One pool for all shards could terminate a single thread
 * by its task's abort signal, but it says neither which thread that was nor when it has exited, and a successor may use
 * the shard's memory only then. It would need `unrefPort`, too.
 */
export function startShardThread(
  task: Omit<ShardTask, 'port'>,
  events: WorkerThreadEvents<FromShard>,
): WorkerThread<ToShard> {
  const pool = new Piscina({
    filename: fileURLToPath(workerUrl('indexer')),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Infinity,
    atomics: 'disabled',
    recordTiming: false,
  });
  // Ignore errors of a thread without a task: the end of its task has already been reported.
  pool.on('error', () => undefined);
  const created = new Promise<object>((resolve) => pool.once('workerCreate', resolve));
  const exited = Promise.all(
    pool.threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve))),
  );
  const { port1: port, port2 } = new MessageChannel();
  port.on('message', events.message);
  const ended = pool.run({ ...task, port: port2 }, { transferList: [port2] }).then(
    () => events.died(new Error('its task returned')),
    (error: unknown) => events.died(error),
  );
  return {
    ended,
    post: (message) => port.postMessage(message),
    unref: () => {
      port.unref();
      void created.then(unrefPort);
    },
    end: async () => {
      await pool.destroy();
      await exited;
      port.close();
    },
  };
}

/**
 * Unrefs the private MessagePort of a pool's worker. Piscina refs this port while a task runs, and a shard's task never
 * ends. Piscina has no API to unref it, so this function finds it behind a symbol of the worker that `workerCreate` passes.
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
 * Entry files by thread. The indexer's is CommonJS; that file gives the reason. A CommonJS bundle may name it `.js`.
 */
const ENTRIES: Readonly<Record<'reflector' | 'indexer', readonly string[]>> = {
  reflector: ['reflector.js'],
  indexer: ['indexer.cjs', 'indexer.js'],
};

export function workerUrl(name: keyof typeof ENTRIES): URL {
  const isSource = import.meta.url.endsWith('.ts');
  const candidates = ENTRIES[name]
    .flatMap((entry) => [
      `../../../workers/${isSource ? entry.replace('js', 'ts') : entry}`,
      `./workers/${entry}`,
    ])
    .map((path) => new URL(path, import.meta.url));
  const found = candidates.find((url) => existsSync(fileURLToPath(url)));
  if (found) return found;
  throw new KubeloomError(
    'ERR_KUBELOOM_WORKER_FILE',
    `the thread entry ${name} was not found at ${candidates.map(String).join(' or ')}; ` +
      'when bundling, emit kubeloom/workers/* beside the bundle as docs/bundling.md says',
  );
}
