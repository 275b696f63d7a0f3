/**
 * Reflector and shards on the calling thread, until worker threads pay: the same classes over the same memory. A bell
 * does not wake a thread here, but requests a turn.
 */
import { backgroundClock, realTimers } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { Backend, BackendEvents, Role } from './backend.ts';
import { UsageWriter } from '../../shared/thread-usage.ts';
import type { PipelineMemory } from '../../shared/pipeline-layout.ts';
import type {
  ControlPort,
  FromReflectorThread,
  FromShard,
  ToReflectorThread,
  ToShard,
} from '../../shared/protocol.ts';
import { createReflector } from '../../reflector/create-reflector.ts';
import { createShard } from '../../indexer/shard.ts';
import type { ReflectorThread } from '../../reflector/reflector-thread.ts';
import type { Shard } from '../../indexer/shard.ts';

const RECORDS_PER_TURN = 256;
/** The longest delay that a timer supports. */
const KEEP_ALIVE_MS = 2 ** 31 - 1;

interface RunningReflector {
  readonly port: LocalPort<ToReflectorThread, FromReflectorThread>;
  readonly thread: ReflectorThread;
  readonly usage: UsageWriter;
}

interface RunningShard {
  readonly port: LocalPort<ToShard, FromShard>;
  readonly shard: Shard;
}

export class InProcessBackend implements Backend {
  readonly #memory: PipelineMemory;
  readonly #events: BackendEvents;
  readonly #onRing: () => void;
  readonly #clock: Clock;
  #reflector: RunningReflector | undefined;
  readonly #shards: (RunningShard | undefined)[];
  #closed: (() => void) | undefined;
  /** Keeps the process alive while the backend runs, even without a socket, as a worker thread would. */
  readonly #keepAlive: NodeJS.Timeout = realTimers.setInterval(() => undefined, KEEP_ALIVE_MS);

  /** @param onRing requests a turn on this thread */
  constructor(
    memory: PipelineMemory,
    events: BackendEvents,
    onRing: () => void,
    clock: Clock = backgroundClock,
  ) {
    this.#memory = memory;
    this.#events = events;
    this.#onRing = onRing;
    this.#clock = clock;
    this.#reflector = this.#startReflector();
    this.#shards = memory.toShard.map((_, shard) => this.#startShard(shard));
  }

  /** Runs reflector and shards for a bounded number of records; returns true if they did any work. */
  runOnce(): boolean {
    const thread = this.#reflector?.thread;
    let work = thread?.hasBacklog ? thread.doWork() : 0;
    for (const [index, running] of this.#shards.entries()) {
      try {
        work += running?.shard.doWork(RECORDS_PER_TURN) ?? 0;
      } catch (cause) {
        this.kill(index, cause);
        work++;
      }
    }
    return work > 0;
  }

  /**
   * Ends the role between two turns, like a terminated thread. For tests and simulators. The role stops, and its
   * unpublished writes stay invisible. (To end a role within a turn, let a store to shared memory throw: see
   * test/faults/recovery.)
   */
  kill(role: Role, cause: unknown = new Error('killed')): void {
    this.#drop(role);
    this.#events.died(role, cause);
  }

  readonly isThreaded = false;

  askForHeartbeats(): void {}

  end(): Promise<void> {
    realTimers.clearInterval(this.#keepAlive);
    this.#drop('reflector');
    for (const shard of this.#shards.keys()) this.#drop(shard);
    return Promise.resolve();
  }

  toReflector(message: ToReflectorThread): void {
    this.#reflector?.port.deliver(message);
  }

  toShard(shard: number, message: ToShard): void {
    this.#shards[shard]?.port.deliver(message);
    // Ring after the message: the shard may wait for the message, as a thread waits on a bell.
    realTimers.setImmediate(this.#onRing);
  }

  /** Shards publish with every turn. */
  publishUsage(): void {
    const { thread, usage } = this.#reflector ?? {};
    if (!thread || !usage) return;
    thread.measure(usage);
    usage.publish();
  }

  /** Lets the process exit; open sockets still keep it alive. */
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

  #drop(role: Role): void {
    if (role === 'reflector') {
      this.publishUsage();
      this.#reflector?.port.close();
      // The sockets of a thread would close with it.
      this.#reflector?.thread.close();
      this.#reflector = undefined;
    } else {
      this.#shards[role]?.port.close();
      this.#shards[role] = undefined;
    }
  }

  #startReflector(): RunningReflector {
    const port = new LocalPort<ToReflectorThread, FromReflectorThread>((message) => {
      if (message.type === 'closed') this.#closed?.();
      else this.#events.fromReflector(message);
    });
    const thread = createReflector({
      memory: this.#memory,
      port,
      onRing: this.#onRing,
      onBacklog: this.#onRing,
      onRead: this.#events.read,
      clock: this.#clock,
    });
    const usage = new UsageWriter(this.#memory.usage[0] as SharedArrayBuffer, backgroundClock);
    return { port, thread, usage };
  }

  #startShard(index: number): RunningShard {
    const port = new LocalPort<ToShard, FromShard>((message) => this.#events.fromShard(index, message));
    const options = { onRing: this.#onRing, clock: this.#clock };
    return { port, shard: createShard(index, this.#memory, port, options) };
  }
}

/** Messages between two objects of the same thread, delivered a task later, like messages of a MessagePort. */
class LocalPort<In, Out> implements ControlPort<In, Out> {
  readonly #receive: (message: Out) => void;
  #listener: ((message: In) => void) | undefined;
  #isClosed = false;

  constructor(receive: (message: Out) => void) {
    this.#receive = receive;
  }

  post(message: Out): void {
    realTimers.setImmediate(() => this.#isClosed || this.#receive(message));
  }

  /** Drops all further messages in both directions. */
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
