/**
 * The duty cycle of an indexer thread. It blocks when there is nothing to do, so its event loop is frozen
 * then: control messages are polled, and the main thread rings the shard's bell after it posted one.
 */
import { realClock, realTimers } from '../clock.ts';
import type { MessagePort } from 'node:worker_threads';
import { receiveMessageOnPort } from 'node:worker_threads';
import type { PipelineMemory } from './layout.ts';
import { Moderation, PAUSE_MS } from './moderation.ts';
import type { ControlPort, FromShard, StatsRequest, ToShard } from './protocol.ts';
import { createShard } from './shard-host.ts';
import { threadCpuMs } from './thread-cpu.ts';

export interface ShardTask {
  readonly index: number;
  readonly memory: PipelineMemory;
  readonly port: MessagePort;
  /** In the place of one that ended: it waits for `resume`. */
  readonly isSuccessor: boolean;
}

/** A safety net: work found after this long without a bell is counted as a lost wake-up… */
const PARK_TIMEOUT_MS = 100;
/** …unless the bell rings so soon after: its producer was interrupted before it. */
const LATE_RING_MS = 1000;
const RECORDS_PER_TURN = 1024;

/** Runs until it is told to shut down. */
export async function runShard(task: ShardTask): Promise<void> {
  const port = new PolledPort(task.port);
  const { shard, words } = createShard(task.index, task.memory, port, { isSuccessor: task.isSuccessor });
  const moderation = new Moderation(realClock.now());
  while (!port.isShutdown) {
    words.heartbeat.increment();
    const records = shard.doWork(RECORDS_PER_TURN);
    port.deltas += records;
    moderation.add(records);
    port.poll();
    if (port.hasOpenRequest) {
      // A module is being imported: that needs the event loop.
      await new Promise(realTimers.setImmediate);
    } else if (records === 0 && moderation.shouldPause(realClock.now())) {
      words.bell.nap(PAUSE_MS);
    } else if (records === 0 && !port.isShutdown) {
      const isRung = words.bell.park(() => shard.hasWork() || port.poll(), PARK_TIMEOUT_MS);
      if (!isRung && shard.hasWork() && !words.bell.ringsWithin(LATE_RING_MS)) port.lostWakeups++;
    }
  }
  port.post({ type: 'closed' });
  task.port.close();
}

/** What is answered later, and needs the event loop for that. */
const OPENS_REQUEST: ReadonlySet<string> = new Set(['attach', 'resume']);

class PolledPort implements ControlPort<ToShard, FromShard> {
  isShutdown = false;
  deltas = 0;
  lostWakeups = 0;
  readonly #port: MessagePort;
  #listener: ((message: ToShard) => void) | undefined;
  #openRequests = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  get hasOpenRequest(): boolean {
    return this.#openRequests > 0;
  }

  onMessage(listener: (message: ToShard) => void): void {
    this.#listener = listener;
  }

  post(message: FromShard): void {
    if (message.type === 'attached' || message.type === 'resumed') this.#openRequests--;
    this.#port.postMessage(message);
  }

  /** Hands waiting messages to the shard; true when there were any. */
  poll(): boolean {
    let received = false;
    for (;;) {
      const envelope: { message: ToShard | StatsRequest } | undefined = receiveMessageOnPort(this.#port);
      if (!envelope) return received;
      received = true;
      if (envelope.message.type === 'stats') {
        const { deltas, lostWakeups } = this;
        this.#port.postMessage({ type: 'stats', deltas, cpuMs: threadCpuMs(), lostWakeups });
        continue;
      }
      if (envelope.message.type === 'shutdown') this.isShutdown = true;
      if (OPENS_REQUEST.has(envelope.message.type)) this.#openRequests++;
      this.#listener?.(envelope.message);
    }
  }
}
