/**
 * Other threads of the program that have an informer's cache, in this thread. The simulator decides when each of them
 * takes a turn or a message, and when it ends. Rings and slabs are the real ones.
 */
import { EventEmitter } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import type { HandlerRegistration, SharedIndexInformer } from '../../src/index.ts';
import { Reader } from '../../src/thread/main/shared-cache.ts';
import { PORT_VERSION, allocateLink } from '../../src/thread/messages.ts';
import { sharedInformerSpec } from '../../src/thread/main/attach-reader.ts';
import type { CachePort } from '../../src/thread/main/shared-cache.ts';
import type { Shareable } from '../../src/informer/shareable.ts';
import { ThreadCache } from '../../src/thread/worker/open-cache.ts';
import type { ThreadInformer } from '../../src/thread/worker/thread-informer.ts';
import type { Chance } from './chance.ts';
import type { Fixtures } from './fixtures.ts';
import { Tasks } from './tasks.ts';

/** The smallest rings are full after a few records. */
const RING_BITS = { min: 12, max: 16 };
const THREADS_MAX = 3;
/** Share of seeds with such threads. */
const SHARE = 0.5;

export class AttachedThreads {
  readonly #fixtures: Fixtures;
  readonly #chance: Chance;
  readonly present: AttachedThread[] = [];
  readonly #ended: AttachedThread[] = [];
  readonly isEnabled: boolean;
  #count = 0;

  constructor(fixtures: Fixtures, chance: Chance) {
    this.#fixtures = fixtures;
    this.#chance = chance;
    this.isEnabled = chance.happens(SHARE);
    if (this.isEnabled) this.attach();
  }

  attach(): void {
    const informer = this.#chance.pick(this.#fixtures.informers);
    if (!informer || this.present.length >= THREADS_MAX) return;
    this.present.push(new AttachedThread(`thread-${++this.#count}`, informer, this.#fixtures, this.#chance));
  }

  /** Ends a thread: it closes its cache, or ends at once, in the middle of anything. */
  end(): void {
    const thread = this.#chance.pick(this.present);
    if (!thread) return;
    this.present.splice(this.present.indexOf(thread), 1);
    this.#ended.push(thread);
    thread.end(this.#chance.happens(0.5));
  }

  /** The main thread removes the handler of a thread, as it does with one that is too slow. The thread goes on. */
  remove(): void {
    this.#chance.pick(this.present)?.remove();
  }

  /** Queues that have something to do: turns of threads, and messages. */
  get queues(): Tasks[] {
    const threads = [...this.present, ...this.#ended];
    return threads.flatMap(({ queues }) => queues).filter(({ length }) => length > 0);
  }

  /** Number of states that ended threads still have. */
  get leftStates(): number {
    return this.#ended.reduce((sum, { exportedStates }) => sum + exportedStates, 0);
  }

  async close(): Promise<void> {
    while (this.present.length > 0) this.end();
    await Promise.all(this.#ended.map(({ ended }) => ended));
  }
}

export class AttachedThread {
  readonly #name: string;
  readonly #fixtures: Fixtures;
  readonly #tasks: Tasks = new Tasks();
  readonly #messages: Tasks = new Tasks();
  readonly #reader: Reader;
  readonly #port: Port;
  readonly #cache: ThreadCache<{ readonly pods: unknown }>;
  readonly #informer: SharedIndexInformer;
  readonly #pods: ThreadInformer;
  /** Resolves when the main thread has nothing of this thread any more. */
  readonly ended: Promise<void>;
  /** The handler on the main thread; undefined before the port is open, and after the removal. */
  #registration: HandlerRegistration | undefined;
  #hasJoined = false;
  #isRemoved = false;
  #isDead = false;

  constructor(name: string, informer: SharedIndexInformer, fixtures: Fixtures, chance: Chance) {
    const { clock, recorder } = fixtures;
    this.#name = name;
    this.#informer = informer;
    this.#fixtures = fixtures;
    const memory = allocateLink(2 ** chance.integer(RING_BITS.min, RING_BITS.max));
    const [main, thread] = Port.pair(this.#messages);
    this.#port = thread;
    let reader: Reader | undefined;
    this.ended = new Promise((resolve) => {
      reader = new Reader(main as unknown as MessagePort, memory, [this.#shareable()], () => resolve());
    });
    this.#reader = reader as unknown as Reader;
    const port: CachePort = {
      kubeloomCache: PORT_VERSION,
      memory,
      informers: [{ key: 'pods', ...sharedInformerSpec(informer) }],
      transferList: [thread as unknown as MessagePort],
    };
    let workedMs = 0;
    const now = (): number => clock.now() + (workedMs += chance.random() * 0.2);
    this.#cache = new ThreadCache(
      port,
      { onError: recorder.report },
      {
        clock: { now, schedule: (ms, callback) => clock.schedule(ms, callback) },
        background: clock,
        timers: this.#tasks.timersOn(clock),
        receive: () => thread.receive(),
        hasBell: false,
      },
    );
    // A thread may end before the main thread has opened the port.
    this.#cache.opened.catch(() => undefined);
    this.#pods = this.#cache.informer('pods');
    recorder.informer(this.#pods, { ...fixtures.recordings.get(informer), hasMetrics: false });
  }

  get queues(): Tasks[] {
    if (this.#isDead) return [this.#messages];
    this.#cache.wake();
    this.#join();
    return [this.#tasks, this.#messages];
  }

  /** Adds the handler when there is a cache that it can join. */
  #join(): void {
    if (this.#hasJoined || !this.#pods.hasSynced() || this.#pods.isStopped()) return;
    this.#hasJoined = true;
    this.#fixtures.recorder.handler(this.#pods, this.#name);
  }

  get exportedStates(): number {
    return this.#reader.exportedStates;
  }

  remove(): void {
    const registration = this.#registration;
    if (!registration) return;
    this.#registration = undefined;
    this.#isRemoved = true;
    if (this.#hasJoined) this.#fixtures.recorder.removed(this.#name);
    this.#hasJoined = true;
    this.#informer.removeEventHandler(registration);
  }

  /** Returns the informer, with the handler that it registers for the thread. */
  #shareable(): Shareable {
    const informer = this.#informer;
    const { handlers } = informer.sharedParts;
    return {
      name: informer.name,
      hasStarted: () => informer.hasStarted(),
      isStopped: () => informer.isStopped(),
      lastSyncResourceVersion: () => informer.lastSyncResourceVersion(),
      sharedParts: {
        ...informer.sharedParts,
        handlers: {
          add: (...args) => (this.#registration = handlers.add(...args)),
          isIdle: (registration) => handlers.isIdle(registration),
          remove: (...args) => handlers.remove(...args),
        },
      },
    };
  }

  /** Returns whether the cache has this version, and its handler has received everything. */
  isCalm(version: string): boolean {
    const { health } = this.#pods;
    if (this.#isRemoved) return health.state === 'stopped';
    const isServed = health.handlers.every(({ notifications }) => notifications === 0);
    return (
      this.#informer.isStopped() || (isServed && health.resourceVersion === version && health.lagMs === 0)
    );
  }

  snapshot(): void {
    if (this.#pods.hasSynced() && !this.#isRemoved) this.#fixtures.recorder.snapshot(this.#pods);
  }

  end(isGraceful: boolean): void {
    if (this.#hasJoined && !this.#isRemoved) this.#fixtures.recorder.removed(this.#name);
    this.#hasJoined = true;
    this.#registration = undefined;
    if (isGraceful) {
      void this.#cache.close();
      return;
    }
    this.#isDead = true;
    this.#port.close();
  }
}

/** One end of a channel, as a MessagePort. Messages to it wait until the simulator lets one arrive. */
class Port extends EventEmitter {
  readonly #queue: Tasks;
  readonly #inbox: unknown[] = [];
  #peer: Port | undefined;
  #isClosed = false;

  static pair(queue: Tasks): [Port, Port] {
    const [one, other] = [new Port(queue), new Port(queue)];
    one.#peer = other;
    other.#peer = one;
    return [one, other];
  }

  private constructor(queue: Tasks) {
    super();
    this.#queue = queue;
  }

  postMessage(message: unknown): void {
    const peer = this.#peer;
    if (this.#isClosed || !peer) return;
    peer.#inbox.push(structuredClone(message));
    this.#queue.push(() => {
      const received = peer.receive();
      if (received) peer.emit('message', received.message);
    });
  }

  receive(): { readonly message: unknown } | undefined {
    return !this.#isClosed && this.#inbox.length > 0 ? { message: this.#inbox.shift() } : undefined;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.push(() => {
      if (this.#peer) this.#peer.#isClosed = true;
      this.emit('close');
      this.#peer?.emit('close');
    });
  }

  ref(): void {
    // Nothing here keeps a process alive.
  }

  unref(): void {
    this.ref();
  }
}
