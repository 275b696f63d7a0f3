/**
 * Reflector and shards in this thread; the simulator decides when each one runs. Messages wait in one queue
 * for each direction, as in MessagePorts. Rings and log are the real ones.
 */
import type { Shard } from '../../src/indexer/shard.ts';
import { DeltaKind, readHead } from '../../src/shared/record/delta.ts';
import {
  NotificationFlag,
  RECORD_TYPE_NOTIFICATION,
  RECORD_TYPE_PREFIX,
} from '../../src/shared/record/notification.ts';
import type { ReflectorThread } from '../../src/reflector/reflector-thread.ts';
import { RingConsumer, RingMemory } from '../../src/shared/ring/ring.ts';
import type { Backend, BackendEvents, Role } from '../../src/informer/threads/backend.ts';
import type { PipelineMemory } from '../../src/shared/pipeline-layout.ts';
import type {
  ControlPort,
  FromReflectorThread,
  FromShard,
  ToReflectorThread,
  ToShard,
} from '../../src/shared/protocol.ts';
import { createReflector } from '../../src/reflector/create-reflector.ts';
import { createShard } from '../../src/indexer/shard.ts';
import type { Clock, Random } from '../../src/base/clock.ts';
import type { HttpTransport } from '../../src/http/http.ts';
import type { ConnectionOptions } from '../../src/kube/connection-options.ts';
import type { AppliedRecord } from './oracle/histories.ts';
import { crashable } from './crash.ts';
import { Tasks } from './tasks.ts';

export interface BackendOptions {
  readonly memory: PipelineMemory;
  readonly events: BackendEvents;
  /** Called when a bell rings: the main thread, which cannot park here, should read its rings. */
  readonly requestRun: () => void;
  readonly clock: Clock;
  readonly random: Random;
  /** Longest time between two reads of the sockets, by the virtual clock; 0: none. */
  readonly readWindowMs: number;
  readonly transport: (connection: ConnectionOptions) => HttpTransport;
  readonly applied: (record: AppliedRecord) => void;
  /** Number of these threads: new threads have the next one. */
  readonly incarnation: number;
}

interface SimulatedReflector {
  readonly port: Port<ToReflectorThread, FromReflectorThread>;
  readonly thread: ReflectorThread;
  readonly sleep: Sleep;
}

interface SimulatedShard {
  readonly port: Port<ToShard, FromShard>;
  readonly shard: Shard;
  /** Reads the shard's output without consuming it. */
  readonly looker: RingConsumer;
}

export class SimulatedBackend implements Backend {
  readonly #options: BackendOptions;
  #reflector: SimulatedReflector | undefined;
  readonly #shards: (SimulatedShard | undefined)[];
  #closed: (() => void) | undefined;

  constructor(options: BackendOptions) {
    this.#options = options;
    this.#reflector = this.#startReflector();
    this.#shards = options.memory.toShard.map((_, shard) => this.#startShard(shard));
  }

  /** The queues of the threads that are running. */
  get queues(): Tasks[] {
    const ports = [this.#reflector, ...this.#shards].flatMap((role) => (role ? [role.port] : []));
    return ports.flatMap(({ inward, outward }) => [inward, outward]);
  }

  get reflector(): ReflectorThread | undefined {
    return this.#reflector?.thread;
  }

  /** True while the reflector's thread sleeps through a window: it reads no socket. */
  get isReflectorAsleep(): boolean {
    return this.#reflector?.sleep.isAsleep === true;
  }

  /** Shards by number; undefined while a shard is dead. */
  get shards(): readonly (Shard | undefined)[] {
    return this.#shards.map((shard) => shard?.shard);
  }

  turnShard(index: number, records: number): void {
    const { applied, incarnation } = this.#options;
    const { shard, looker } = this.#shards[index] ?? {};
    try {
      crashable(() => shard?.doWork(records));
    } catch (cause) {
      this.kill(index, cause);
    }
    while (looker?.peek()) {
      // Tables of shapes precede the record that needs them, with its sequence.
      if (looker.type !== RECORD_TYPE_PREFIX) {
        const { sequence, kind } = recordOf(looker);
        applied({ shard: index, sequence, incarnation, kind });
      }
      looker.advance();
    }
  }

  /** Runs work of the reflector; when it throws, the reflector's thread has died. */
  inReflector(act: () => void): void {
    try {
      crashable(act);
    } catch (cause) {
      this.kill('reflector', cause);
    }
  }

  kill(role: Role, cause: unknown): void {
    this.#drop(role);
    this.#options.events.died(role, cause);
  }

  readonly isThreaded = false;

  askForHeartbeats(): void {}

  end(): Promise<void> {
    this.#drop('reflector');
    for (const shard of this.#shards.keys()) this.#drop(shard);
    return Promise.resolve();
  }

  toReflector(message: ToReflectorThread): void {
    this.#reflector?.port.send(message);
    this.#reflector?.sleep.end();
  }

  toShard(shard: number, message: ToShard): void {
    this.#shards[shard]?.port.send(message);
  }

  publishUsage(): void {}

  unref(): void {}

  async close(): Promise<void> {
    if (!this.#reflector) return;
    const closed = new Promise<void>((resolve) => (this.#closed = resolve));
    this.toReflector({ type: 'shutdown' });
    await closed;
  }

  #drop(role: Role): void {
    if (role === 'reflector') {
      this.#reflector?.thread.close();
      this.#reflector = undefined;
    } else {
      this.#shards[role] = undefined;
    }
  }

  #startReflector(): SimulatedReflector {
    const { memory, events, requestRun, clock, random, transport, readWindowMs } = this.#options;
    const port = new Port<ToReflectorThread, FromReflectorThread>((message) => {
      if (message.type === 'closed') this.#closed?.();
      else events.fromReflector(message);
    });
    const sleep = new Sleep(clock);
    const thread = createReflector({
      memory,
      port,
      loop: {
        readWindowMs,
        atEndOfTurn: (callback) => port.inward.push(() => this.inReflector(callback)),
        sleep: (windowMs) => sleep.begin(windowMs),
      },
      onRing: requestRun,
      onBacklog: requestRun,
      clock,
      random,
      transportFor: transport,
    });
    return { port, thread, sleep };
  }

  #startShard(index: number): SimulatedShard {
    const { memory, events, requestRun, clock } = this.#options;
    const port = new Port<ToShard, FromShard>((message) => events.fromShard(index, message));
    const shard = createShard(index, memory, port, { onRing: requestRun, clock });
    const output = memory.toMain[index];
    if (!output) throw new RangeError(`no ring of shard ${index}`);
    const looker = new RingConsumer(new RingMemory(output));
    return { port, shard, looker };
  }
}

/** The sleep of the reflector's thread. Its timers go on, as if each had woken the thread in time. */
class Sleep {
  isAsleep = false;
  readonly #clock: Clock;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(windowMs: number): void {
    this.isAsleep = true;
    this.#cancel = this.#clock.schedule(windowMs, () => this.end());
  }

  end(): void {
    this.isAsleep = false;
    this.#cancel();
  }
}

const KINDS: ReadonlyMap<number, string> = new Map(
  Object.entries(DeltaKind).map(([name, kind]) => [kind, name]),
);

function recordOf(looker: RingConsumer): { readonly sequence: number; readonly kind: string } {
  const head = { sequence: 0, informer: 0, kind: 0, flags: 0 };
  readHead(looker.words, looker.offset >> 2, head);
  const isNothing = looker.type === RECORD_TYPE_NOTIFICATION && (head.flags & NotificationFlag.Nothing) !== 0;
  return {
    sequence: head.sequence,
    kind: isNothing ? 'Nothing' : (KINDS.get(head.kind) ?? String(head.kind)),
  };
}

class Port<In, Out> implements ControlPort<In, Out> {
  readonly inward: Tasks = new Tasks();
  readonly outward: Tasks = new Tasks();
  readonly #receive: (message: Out) => void;
  #listener: ((message: In) => void) | undefined;

  constructor(receive: (message: Out) => void) {
    this.#receive = receive;
  }

  send(message: In): void {
    this.inward.push(() => this.#listener?.(message));
  }

  post(message: Out): void {
    this.outward.push(() => this.#receive(message));
  }

  onMessage(listener: (message: In) => void): void {
    this.#listener = listener;
  }
}
