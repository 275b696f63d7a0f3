/** Reflector and shards on one thread each; each thread can be terminated and replaced alone. */
import { realTimers } from '../../base/clock.ts';
import type { Backend, BackendEvents, Role } from './backend.ts';
import { PipelineWords } from '../../shared/layout.ts';
import type { PipelineMemory } from '../../shared/layout.ts';
import type { StatsRequest, ToReflectorThread, ToShard } from '../../shared/protocol.ts';
import { ReflectorWorker } from './reflector-worker.ts';
import { ShardWorker } from './shard-worker.ts';
import type { WorkerThread } from './worker-thread.ts';

/** Time for a thread to end after `shutdown`; then it is terminated. */
const CLOSE_TIMEOUT_MS = 5000;

export class WorkerBackend implements Backend {
  readonly #memory: PipelineMemory;
  readonly #events: BackendEvents;
  readonly #words: PipelineWords;
  #reflector: WorkerThread<ToReflectorThread | StatsRequest>;
  readonly #shards: WorkerThread<ToShard | StatsRequest>[];
  #isClosing = false;
  #isUnref = false;

  constructor(memory: PipelineMemory, events: BackendEvents) {
    this.#memory = memory;
    this.#events = events;
    this.#words = new PipelineWords(memory);
    this.#reflector = this.#startReflector();
    this.#shards = memory.toShard.map((_, shard) => this.#startShard(shard, false));
  }

  toReflector(message: ToReflectorThread | StatsRequest): void {
    this.#reflector.post(message);
  }

  toShard(shard: number, message: ToShard | StatsRequest): void {
    this.#shards[shard]?.post(message);
    // A parked shard's event loop is blocked; the bell makes the shard poll its port.
    this.#words.shard(shard).bell.ring();
  }

  heartbeat(role: Role): number {
    const { reflectorHeartbeat } = this.#words;
    return (role === 'reflector' ? reflectorHeartbeat : this.#words.shard(role).heartbeat).load();
  }

  async end(role: Role): Promise<void> {
    await this.#threadOf(role)?.end();
  }

  succeed(role: Role): void {
    if (role === 'reflector') this.#reflector = this.#startReflector();
    else this.#shards[role] = this.#startShard(role, true);
    if (this.#isUnref) this.#threadOf(role)?.unref();
  }

  unref(): void {
    this.#isUnref = true;
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

  #threadOf(role: Role): WorkerThread<never> | undefined {
    return role === 'reflector' ? this.#reflector : this.#shards[role];
  }

  #startReflector(): ReflectorWorker {
    const worker: ReflectorWorker = new ReflectorWorker(this.#memory, {
      message: (message) => {
        if (this.#reflector === worker) this.#events.fromReflector(message);
      },
      died: (cause) => {
        if (this.#reflector === worker) this.#died('reflector', cause);
      },
    });
    return worker;
  }

  #startShard(shard: number, isSuccessor: boolean): ShardWorker {
    const task = { index: shard, memory: this.#memory, isSuccessor };
    const worker: ShardWorker = new ShardWorker(task, {
      message: (message) => {
        if (this.#shards[shard] === worker) this.#events.fromShard(shard, message);
      },
      died: (cause) => {
        if (this.#shards[shard] === worker) this.#died(shard, cause);
      },
    });
    return worker;
  }

  #died(role: Role, cause: unknown): void {
    if (!this.#isClosing) this.#events.died(role, cause);
  }
}

/** Waits for a thread that has received `shutdown`, then terminates it. */
async function endSoon(thread: WorkerThread<never>): Promise<void> {
  const timeout = new AbortController();
  const late = new Promise<void>((resolve) => {
    const timer = realTimers.setTimeout(resolve, CLOSE_TIMEOUT_MS);
    timeout.signal.addEventListener('abort', () => realTimers.clearTimeout(timer));
  });
  await Promise.race([thread.ended, late]);
  timeout.abort();
  await thread.end();
}
