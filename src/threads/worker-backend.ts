/**
 * Reflector and shards on threads of their own: one Worker with an event loop for the reflector, and a
 * Piscina pool whose every thread runs one endless task, a shard.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { KubeloomError } from '../errors.ts';
import type { Backend, BackendEvents } from './backend.ts';
import { PipelineWords } from './layout.ts';
import type { PipelineMemory } from './layout.ts';
import type {
  FromReflector,
  FromShard,
  StatsAnswer,
  StatsRequest,
  ToReflector,
  ToShard,
} from './protocol.ts';
import type { ReflectorTask } from './reflector-loop.ts';
import type { ShardTask } from './shard-loop.ts';
import { workerUrl } from './worker-files.ts';

interface ShardThread {
  readonly port: MessagePort;
  readonly ended: Promise<void>;
}

export class WorkerBackend implements Backend {
  readonly #memory: PipelineMemory;
  readonly #events: BackendEvents;
  readonly #words: PipelineWords;
  readonly #reflector: Worker;
  readonly #reflectorPort: MessagePort;
  readonly #reflectorEnded: Promise<void>;
  readonly #pool: Piscina;
  readonly #shards: readonly ShardThread[];
  #isClosing = false;

  constructor(memory: PipelineMemory, events: BackendEvents) {
    this.#memory = memory;
    this.#events = events;
    this.#words = new PipelineWords(memory);
    const channel = new MessageChannel();
    this.#reflectorPort = channel.port1;
    this.#reflectorPort.on('message', (message: FromReflector | StatsAnswer) =>
      events.fromReflector(message),
    );
    const task: ReflectorTask = { memory, port: channel.port2 };
    this.#reflector = new Worker(workerUrl('reflector'), {
      workerData: task,
      transferList: [channel.port2],
      name: 'kubeloom-reflector',
    });
    this.#reflectorEnded = this.#watchReflector();
    const threads = memory.toShard.length;
    this.#pool = new Piscina({
      filename: fileURLToPath(workerUrl('indexer')),
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: Infinity,
      atomics: 'disabled',
      recordTiming: false,
    });
    this.#shards = memory.toShard.map((_, shard) => this.#startShard(shard));
  }

  toReflector(message: ToReflector | StatsRequest): void {
    this.#reflectorPort.postMessage(message);
  }

  toShard(shard: number, message: ToShard | StatsRequest): void {
    this.#shards[shard]?.port.postMessage(message);
    // A parked shard's event loop is frozen: the bell makes it poll its port.
    this.#words.shard(shard).bell.ring();
  }

  unref(): void {
    this.#reflector.unref();
    this.#reflectorPort.unref();
    for (const { port } of this.#shards) port.unref();
    for (const thread of this.#pool.threads) thread.unref();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.toReflector({ type: 'shutdown' });
    this.#shards.forEach((_, shard) => this.toShard(shard, { type: 'shutdown' }));
    await this.#reflectorEnded;
    await Promise.all(this.#shards.map(({ ended }) => ended));
    await this.#pool.destroy();
    this.#reflectorPort.close();
    for (const { port } of this.#shards) port.close();
  }

  #watchReflector(): Promise<void> {
    return new Promise((resolve) => {
      this.#reflector.on('error', (error) => this.#failed(error, 'reflector'));
      this.#reflector.on('exit', (code) => {
        // Also with code 0: nobody told it to end, and without it nothing would ever come again.
        this.#failed(new Error(`exit code ${code}`), 'reflector');
        resolve();
      });
    });
  }

  #startShard(shard: number): ShardThread {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', (message: FromShard | StatsAnswer) => this.#events.fromShard(shard, message));
    const task: ShardTask = { index: shard, memory: this.#memory, port: port2 };
    const ended = this.#pool.run(task, { transferList: [port2] }).then(
      () => this.#failed(new Error('its task returned'), `shard ${shard}`),
      (error: unknown) => this.#failed(error, `shard ${shard}`),
    );
    return { port: port1, ended };
  }

  #failed(cause: unknown, role: string): void {
    if (this.#isClosing) return;
    const message = cause instanceof Error ? cause.message : String(cause);
    this.#events.failed(
      new KubeloomError('ERR_KUBELOOM_THREAD', `the ${role} thread ended: ${message}`, { cause }),
    );
  }
}
