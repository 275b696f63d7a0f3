/**
 * Reflector and shard on the calling thread, for `threads: 0`: the same classes over the same memory. Bells
 * wake nobody; they ask for a turn.
 */
import type { Backend, BackendEvents } from './backend.ts';
import type { PipelineMemory } from './layout.ts';
import type {
  ControlPort,
  FromReflector,
  FromShard,
  StatsRequest,
  ToReflector,
  ToShard,
} from './protocol.ts';
import { createReflector } from './reflector-host.ts';
import { createShard } from './shard-host.ts';
import type { ReflectorThread } from '../reflector/reflector-thread.ts';
import type { Shard } from '../indexer/shard.ts';

const RECORDS_PER_TURN = 256;

export class TwinBackend implements Backend {
  readonly #reflector: ReflectorThread;
  readonly #shards: readonly Shard[];
  readonly #toReflector: LocalPort<ToReflector, FromReflector>;
  readonly #toShards: readonly LocalPort<ToShard, FromShard>[];
  readonly #closed: Promise<void>;
  readonly #events: BackendEvents;
  readonly #deltas: number[];

  /** @param onRing asks for a turn on this thread */
  constructor(memory: PipelineMemory, events: BackendEvents, onRing: () => void) {
    this.#events = events;
    this.#deltas = memory.toShard.map(() => 0);
    let resolveClosed: () => void = () => undefined;
    this.#closed = new Promise((resolve) => (resolveClosed = resolve));
    this.#toReflector = new LocalPort((message) => {
      if (message.type === 'closed') resolveClosed();
      else events.fromReflector(message);
    });
    this.#toShards = memory.toShard.map(
      (_, shard) => new LocalPort((message) => events.fromShard(shard, message)),
    );
    this.#reflector = createReflector({ memory, port: this.#toReflector, onRing, onBacklog: onRing });
    this.#shards = this.#toShards.map((port, shard) => createShard(shard, memory, port, onRing).shard);
  }

  /** Runs reflector and shards for a bounded while; true when something was done. */
  turn(): boolean {
    let work = this.#reflector.hasBacklog ? this.#reflector.doWork() : 0;
    this.#shards.forEach((shard, index) => {
      const records = shard.doWork(RECORDS_PER_TURN);
      this.#deltas[index] = (this.#deltas[index] ?? 0) + records;
      work += records;
    });
    return work > 0;
  }

  toReflector(message: ToReflector | StatsRequest): void {
    if (message.type === 'stats') {
      const deltas = this.#deltas.reduce((sum, count) => sum + count, 0);
      setImmediate(() => this.#events.fromReflector({ type: 'stats', deltas, cpuMs: undefined }));
      return;
    }
    this.#toReflector.deliver(message);
  }

  toShard(shard: number, message: ToShard | StatsRequest): void {
    if (message.type === 'stats') {
      const deltas = this.#deltas[shard] ?? 0;
      setImmediate(() => this.#events.fromShard(shard, { type: 'stats', deltas, cpuMs: undefined }));
      return;
    }
    this.#toShards[shard]?.deliver(message);
  }

  unref(): void {
    // Nothing of ours holds the loop but the open sockets.
  }

  close(): Promise<void> {
    this.toReflector({ type: 'shutdown' });
    return this.#closed;
  }
}

/** Messages between two objects of one thread, one task later, as a MessagePort would. */
class LocalPort<In, Out> implements ControlPort<In, Out> {
  readonly #receive: (message: Out) => void;
  #listener: ((message: In) => void) | undefined;

  constructor(receive: (message: Out) => void) {
    this.#receive = receive;
  }

  post(message: Out): void {
    setImmediate(() => this.#receive(message));
  }

  deliver(message: In): void {
    setImmediate(() => this.#listener?.(message));
  }

  onMessage(listener: (message: In) => void): void {
    this.#listener = listener;
  }
}
