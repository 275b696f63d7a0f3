/**
 * An indexer thread: a Piscina pool of one thread that runs one endless task. Each has its own pool, because destroying
 * a pool is the only way to terminate a thread that does not answer.
 */
import { MessageChannel, MessagePort } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { FromShard, StatsAnswer, StatsRequest, ToShard } from '../../shared/protocol.ts';
import type { ShardTask } from '../../indexer/shard-loop.ts';
import type { WorkerThread, WorkerThreadEvents } from './worker-thread.ts';
import { workerUrl } from './worker-files.ts';

export class ShardWorker implements WorkerThread<ToShard | StatsRequest> {
  readonly ended: Promise<void>;
  readonly #pool: Piscina;
  readonly #poolWorkers: object[] = [];
  /** Resolves when the thread has exited, which may be later than the end of its task. */
  readonly #gone: Promise<unknown>;
  readonly #port: MessagePort;
  #isUnref = false;

  constructor(task: Omit<ShardTask, 'port'>, events: WorkerThreadEvents<FromShard | StatsAnswer>) {
    this.#pool = new Piscina({
      filename: fileURLToPath(workerUrl('indexer')),
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Infinity,
      atomics: 'disabled',
      recordTiming: false,
    });
    this.#pool.on('workerCreate', (worker: object) => {
      this.#poolWorkers.push(worker);
      if (this.#isUnref) unrefPort(worker);
    });
    // Ignore errors of a thread without a task: the end of its task has already been reported.
    this.#pool.on('error', () => undefined);
    this.#gone = Promise.all(
      this.#pool.threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve))),
    );
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', events.message);
    this.ended = this.#pool.run({ ...task, port: port2 }, { transferList: [port2] }).then(
      () => events.died(new Error('its task returned')),
      (error: unknown) => events.died(error),
    );
  }

  post(message: ToShard | StatsRequest): void {
    this.#port.postMessage(message);
  }

  unref(): void {
    this.#isUnref = true;
    this.#port.unref();
    for (const thread of this.#pool.threads) thread.unref();
    for (const worker of this.#poolWorkers) unrefPort(worker);
  }

  async end(): Promise<void> {
    await this.#pool.destroy();
    await this.#gone;
    this.#port.close();
  }
}

/**
 * Unrefs the private MessagePort of a worker. Piscina refs this port while a task runs, and a shard's task never ends.
 * Piscina has no API to unref it, so this function finds it behind a symbol of the worker that `workerCreate` passes.
 */
function unrefPort(worker: object): void {
  for (const symbol of Object.getOwnPropertySymbols(worker)) {
    const info: unknown = Reflect.get(worker, symbol);
    if (typeof info === 'object' && info !== null && 'port' in info && info.port instanceof MessagePort) {
      info.port.unref();
    }
  }
}
