/**
 * The reflector over the shared memory, identical for the in-process backend and for a worker thread, and the loop of
 * that thread. Sockets drive it, so it never blocks. While it holds a backlog it polls for room in a ring or in the log.
 */
import type { MessagePort } from 'node:worker_threads';
import { backgroundClock, realClock, realTimers } from '../base/clock.ts';
import type { Clock, Random } from '../base/clock.ts';
import { LogWriter } from '../shared/log/log.ts';
import type { ReflectorLoop } from './loop-turns.ts';
import { ReflectorThread } from './reflector-thread.ts';
import type { OnRead } from './reflector-session.ts';
import { Router } from './router.ts';
import { BellWatch } from '../shared/ring/bell-watch.ts';
import { RingMemory, RingProducer } from '../shared/ring/ring.ts';
import { Http1Transport } from '../http/http1-transport.ts';
import type { HttpTransport } from '../http/http.ts';
import { FeedTransports } from './feed-transport.ts';
import { PipelineWords } from '../shared/pipeline-layout.ts';
import { StampWriter } from '../shared/stamps.ts';
import { UsageCounter, UsageWriter } from '../shared/thread-usage.ts';
import type { OnRing, PipelineMemory } from '../shared/pipeline-layout.ts';
import type {
  ControlPort,
  FromReflectorThread,
  ToReflectorThread,
  ToReflectorWorker,
} from '../shared/protocol.ts';
import type { ConnectionOptions } from '../kube/connection-options.ts';

export interface ReflectorHostOptions {
  readonly memory: PipelineMemory;
  readonly port: ControlPort<ToReflectorThread, FromReflectorThread>;
  readonly onRing?: OnRing;
  /** Called when something found no room: call `doWork` when there may be room again. */
  readonly onBacklog: () => void;
  readonly onRead?: OnRead | undefined;
  /** Default: the loop runs other work as well. */
  readonly loop?: ReflectorLoop;
  /** Upper bound of one read of a socket, in bytes. The default suits a thread that also does other work. */
  readonly readBytes?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: sockets. */
  readonly transportFor?: (connection: ConnectionOptions) => HttpTransport;
}

export function createReflector(options: ReflectorHostOptions): ReflectorThread {
  const { memory, onRing, readBytes } = options;
  const reading = readBytes === undefined ? {} : { readBytes };
  const feeds = new FeedTransports(options.port);
  const { transportFor = (connection) => new Http1Transport(connection, reading), clock = realClock } =
    options;
  const words = new PipelineWords(memory, onRing);
  const router = new Router({
    rings: memory.toShard.map((buffer) => new RingProducer(new RingMemory(buffer))),
    bells: memory.toShard.map((_, index) => words.shard(index).bell),
    committed: words.committed,
    log: new LogWriter(memory.log, words.merged),
    hashKey: memory.hashKey,
    stamps: new StampWriter(memory.stamps, words.merged, clock),
  });
  return new ReflectorThread({
    router,
    port: feeds.port,
    onBacklog: options.onBacklog,
    onRead: options.onRead,
    loop: options.loop,
    clock,
    random: options.random ?? Math.random,
    transportFor: (connection) =>
      connection.feed === undefined ? transportFor(connection) : feeds.transportFor(connection.feed),
  });
}

/**
 * The size of a read; each read is published at once. Larger reads were not faster, smaller reads cost more
 * (docs/decisions/0007).
 */
const READ_BYTES = 256 * 1024;
/**
 * The first pause of a thread with a backlog. It looks for room after this pause, after a second pause of
 * twice the length, and only then parks on the bell. The main thread rings for every few objects, but room
 * comes a block (hundreds of objects) at a time. Each needless wake-up would cost the main thread the core
 * (docs/decisions/0013).
 */
const NAP_MS = 1;
const NAP_MS_MAX = 64;

export interface ReflectorTask {
  readonly memory: PipelineMemory;
  /** Longest time between two reads of the sockets. */
  readonly readWindowMs: number;
  readonly port: MessagePort;
}

/**
 * Runs the reflector from the first message on. Until that message the thread only answers the supervisor, because other
 * roles may use the memory while the thread starts.
 */
export function runReflector(task: ReflectorTask): void {
  const { reflectorHeartbeat: heartbeat } = new PipelineWords(task.memory);
  let running: RunningReflector | undefined;
  // The event loop receives the main thread's message, so a blocked thread does not answer.
  const beat = (): void => {
    heartbeat.increment();
    running?.publishUsage();
  };
  task.port.on('message', (message: ToReflectorWorker) => {
    if (message.type === 'beat') beat();
    else (running ??= beginReflector(task)).handle(message);
  });
  beat();
  task.port.postMessage({ type: 'ready' } satisfies FromReflectorThread);
}

interface RunningReflector {
  readonly handle: (message: ToReflectorThread) => void;
  readonly publishUsage: () => void;
}

function beginReflector(task: ReflectorTask): RunningReflector {
  const { memory, readWindowMs } = task;
  const { controlBell, reflectorBell } = new PipelineWords(memory);
  const bell = new BellWatch(reflectorBell, backgroundClock, () => reflector.hasBacklog);
  const usage = new UsageWriter(memory.usage[0] as SharedArrayBuffer, realClock);
  let receive: (message: ToReflectorThread) => void = () => undefined;
  const port: ControlPort<ToReflectorThread, FromReflectorThread> = {
    post: (message) => {
      task.port.postMessage(message);
      if (message.type !== 'closed') return;
      backlog.close();
      task.port.close();
    },
    onMessage: (listener) => {
      receive = listener;
    },
  };
  const onBacklog = (): void => backlog.begin();
  // It rings for every batch of records: its CPU time changes with these.
  const onRing = (): void => usage.publishCpuTime(true);
  const loop: ReflectorLoop = {
    readWindowMs,
    atEndOfTurn: realTimers.setImmediate,
    sleep: (windowMs) => controlBell.pause(windowMs),
  };
  const reflector = createReflector({
    memory,
    port,
    onRing,
    onBacklog,
    loop,
    readBytes: READ_BYTES,
  });
  const backlog = new BacklogWatch(reflector, bell);
  return {
    handle: (message) => {
      receive(message);
      backlog.begin();
    },
    publishUsage: () => {
      reflector.measure(usage);
      usage.set(UsageCounter.LostWakeups, bell.lostWakeups);
      usage.publish();
      usage.publishCpuTime(false);
    },
  };
}

/** Looks for room while the reflector holds a backlog: after short pauses first, then when its bell rings. */
class BacklogWatch {
  readonly #reflector: ReflectorThread;
  readonly #bell: BellWatch;
  #isWatching = false;
  #isClosed = false;

  constructor(reflector: ReflectorThread, bell: BellWatch) {
    this.#reflector = reflector;
    this.#bell = bell;
  }

  begin(): void {
    if (this.#isWatching || this.#isClosed || !this.#reflector.hasBacklog) return;
    this.#isWatching = true;
    this.#lookAfter(NAP_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.#bell.close();
  }

  #lookAfter(napMs: number): void {
    realClock.schedule(napMs, () => {
      const hasWorked = this.#reflector.doWork() > 0;
      if (this.#isClosed || !this.#reflector.hasBacklog) this.#isWatching = false;
      else if (hasWorked) this.#lookAfter(NAP_MS);
      else if (napMs < NAP_MS_MAX) this.#lookAfter(napMs * 2);
      else this.#waitForBell();
    });
  }

  #waitForBell(): void {
    void this.#bell
      .parkAsync(() => this.#reflector.doWork() > 0)
      .then(() => {
        this.#isWatching = false;
        this.begin();
      });
  }
}
