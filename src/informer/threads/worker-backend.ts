/** Reflector and shards on one thread each; each thread can be terminated and replaced alone. */
import { realTimers } from '../../base/clock.ts';
import type { Backend, BackendEvents, Role } from './backend.ts';
import { PipelineWords } from '../../shared/layout.ts';
import type { PipelineMemory } from '../../shared/layout.ts';
import type { StatsRequest, ToReflectorThread, ToShard } from '../../shared/protocol.ts';
import { startReflectorThread, startShardThread } from './worker-threads.ts';
import type { WorkerThread } from './worker-threads.ts';

/** Time for a thread to end after `shutdown`; then it is terminated. */
const CLOSE_TIMEOUT_MS = 5000;

export class WorkerBackend implements Backend {
  readonly #memory: PipelineMemory;
  readonly #events: BackendEvents;
  readonly #words: PipelineWords;
  #reflector: WorkerThread<ToReflectorThread>;
  readonly #shards: WorkerThread<ToShard>[];
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

  #startReflector(): WorkerThread<ToReflectorThread> {
    const thread: WorkerThread<ToReflectorThread> = startReflectorThread(this.#memory, {
      message: (message) => {
        if (this.#reflector === thread) this.#events.fromReflector(message);
      },
      died: (cause) => this.#died('reflector', thread, cause),
    });
    return thread;
  }

  #startShard(index: number, isSuccessor: boolean): WorkerThread<ToShard> {
    const task = { index, memory: this.#memory, isSuccessor };
    const thread: WorkerThread<ToShard> = startShardThread(task, {
      message: (message) => {
        if (this.#shards[index] === thread) this.#events.fromShard(index, message);
      },
      died: (cause) => this.#died(index, thread, cause),
    });
    return thread;
  }

  /** Reports the end of a thread that was neither asked to end nor replaced. */
  #died(role: Role, thread: WorkerThread<never>, cause: unknown): void {
    if (!this.#isClosing && this.#threadOf(role) === thread) this.#events.died(role, cause);
  }
}

/** Waits for a thread that has received `shutdown`, then terminates it. */
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
