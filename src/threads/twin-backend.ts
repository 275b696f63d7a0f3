/**
 * Reflector and shard on the calling thread, for `threads: 0`: the same classes over the same memory. Bells
 * wake nobody; they ask for a turn.
 */
import { backgroundClock, realTimers } from '../clock.ts';
import type { Backend, BackendEvents, Role } from './backend.ts';
import { PipelineWords } from './layout.ts';
import type { PipelineMemory } from './layout.ts';
import type {
  ControlPort,
  FromReflectorThread,
  FromShard,
  StatsRequest,
  ToReflectorThread,
  ToShard,
} from './protocol.ts';
import { createReflector } from './reflector-host.ts';
import { createShard } from './shard-host.ts';
import type { ReflectorThread } from '../reflector/reflector-thread.ts';
import type { Shard } from '../indexer/shard.ts';

const RECORDS_PER_TURN = 256;
/** The longest that a timer can take. */
const KEEP_ALIVE_MS = 2 ** 31 - 1;

interface TwinReflector {
  readonly port: LocalPort<ToReflectorThread, FromReflectorThread>;
  readonly thread: ReflectorThread;
}

interface TwinShard {
  readonly port: LocalPort<ToShard, FromShard>;
  readonly shard: Shard;
  deltas: number;
}

export class TwinBackend implements Backend {
  readonly #memory: PipelineMemory;
  readonly #events: BackendEvents;
  readonly #onRing: () => void;
  #reflector: TwinReflector | undefined;
  readonly #shards: (TwinShard | undefined)[];
  readonly #words: PipelineWords;
  readonly #firstSequence: number;
  #closed: (() => void) | undefined;
  /** A running informer keeps the process alive, also while it has no socket: a worker would. */
  readonly #keepAlive: NodeJS.Timeout = realTimers.setInterval(() => undefined, KEEP_ALIVE_MS);

  /** @param onRing asks for a turn on this thread */
  constructor(memory: PipelineMemory, events: BackendEvents, onRing: () => void) {
    this.#memory = memory;
    this.#events = events;
    this.#onRing = onRing;
    this.#words = new PipelineWords(memory);
    this.#firstSequence = this.#words.committed.load();
    this.#reflector = this.#startReflector();
    this.#shards = memory.toShard.map((_, shard) => this.#startShard(shard, false));
  }

  /** Runs reflector and shards for a bounded while; true when something was done. */
  turn(): boolean {
    const { thread } = this.#reflector ?? {};
    let work = thread?.hasBacklog ? thread.doWork() : 0;
    for (const [index, shard] of this.#shards.entries()) if (shard) work += this.#turnShard(index, shard);
    return work > 0;
  }

  /**
   * For tests and simulators: the role ends here, between two of its turns, as a thread does that is terminated.
   * Nothing of it runs any more, what it wrote and did not publish is never seen, and it is replaced as a thread
   * would be. (To end one within a turn, let a store to shared memory throw: see test/recovery.)
   */
  kill(role: Role, cause: unknown = new Error('killed')): void {
    this.#drop(role);
    this.#events.died(role, cause);
  }

  /** It cannot stop without stopping who would look. */
  heartbeat(): undefined {
    return undefined;
  }

  end(role: Role): Promise<void> {
    this.#drop(role);
    return Promise.resolve();
  }

  succeed(role: Role): void {
    if (role === 'reflector') this.#reflector = this.#startReflector();
    else this.#shards[role] = this.#startShard(role, true);
  }

  toReflector(message: ToReflectorThread | StatsRequest): void {
    if (message.type === 'stats') {
      const deltas = (this.#words.committed.load() - this.#firstSequence) >>> 0;
      realTimers.setImmediate(() => this.#events.fromReflector({ type: 'stats', deltas, cpuMs: undefined }));
      return;
    }
    this.#reflector?.port.deliver(message);
  }

  toShard(shard: number, message: ToShard | StatsRequest): void {
    const twin = this.#shards[shard];
    if (message.type === 'stats') {
      const deltas = twin?.deltas ?? 0;
      realTimers.setImmediate(() =>
        this.#events.fromShard(shard, { type: 'stats', deltas, cpuMs: undefined }),
      );
      return;
    }
    twin?.port.deliver(message);
  }

  /** Open sockets still hold the loop. */
  unref(): void {
    this.#keepAlive.unref();
  }

  async close(): Promise<void> {
    realTimers.clearInterval(this.#keepAlive);
    if (!this.#reflector) return;
    const closed = new Promise<void>((resolve) => (this.#closed = resolve));
    this.toReflector({ type: 'shutdown' });
    await closed;
  }

  #turnShard(index: number, shard: TwinShard): number {
    try {
      const records = shard.shard.doWork(RECORDS_PER_TURN);
      shard.deltas += records;
      return records;
    } catch (cause) {
      this.kill(index, cause);
      return 1;
    }
  }

  #drop(role: Role): void {
    if (role === 'reflector') {
      this.#reflector?.port.close();
      // On a thread of its own its sockets would end with it.
      this.#reflector?.thread.close();
      this.#reflector = undefined;
    } else {
      this.#shards[role]?.port.close();
      this.#shards[role] = undefined;
    }
  }

  #startReflector(): TwinReflector {
    const port = new LocalPort<ToReflectorThread, FromReflectorThread>((message) => {
      if (message.type === 'closed') this.#closed?.();
      else this.#events.fromReflector(message);
    });
    const thread = createReflector({
      memory: this.#memory,
      port,
      onRing: this.#onRing,
      onBacklog: this.#onRing,
      clock: backgroundClock,
    });
    return { port, thread };
  }

  #startShard(index: number, isSuccessor: boolean): TwinShard {
    const port = new LocalPort<ToShard, FromShard>((message) => this.#events.fromShard(index, message));
    const { shard } = createShard(index, this.#memory, port, { onRing: this.#onRing, isSuccessor });
    return { port, shard, deltas: 0 };
  }
}

/** Messages between two objects of one thread, one task later, as a MessagePort would. */
class LocalPort<In, Out> implements ControlPort<In, Out> {
  readonly #receive: (message: Out) => void;
  #listener: ((message: In) => void) | undefined;
  #isClosed = false;

  constructor(receive: (message: Out) => void) {
    this.#receive = receive;
  }

  post(message: Out): void {
    realTimers.setImmediate(() => {
      if (!this.#isClosed) this.#receive(message);
    });
  }

  /** Nothing comes through any more, either way. */
  close(): void {
    this.#isClosed = true;
    this.#listener = undefined;
  }

  deliver(message: In): void {
    realTimers.setImmediate(() => this.#listener?.(message));
  }

  onMessage(listener: (message: In) => void): void {
    this.#listener = listener;
  }
}
