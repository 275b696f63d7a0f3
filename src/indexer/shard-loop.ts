/**
 * Loop of an indexer thread. A thread without work blocks, together with its event loop. Therefore the loop polls for
 * control messages, and the main thread rings the shard's bell after each message.
 */
import { receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { realClock, realTimers } from '../base/clock.ts';
import { ForgottenMemory } from '../shared/forgotten-memory.ts';
import { PipelineWords } from '../shared/pipeline-layout.ts';
import { UsageCounter } from '../shared/thread-usage.ts';
import type { PipelineMemory } from '../shared/pipeline-layout.ts';
import type { ControlPort, FromShard, ToShard } from '../shared/protocol.ts';
import { createShard } from './shard.ts';

export interface ShardTask {
  readonly index: number;
  readonly memory: PipelineMemory;
  readonly port: MessagePort;
  /**
   * Longest wait for the bell, after which the thread shows a sign of life. Work that is found then counts as a lost
   * wake-up…
   */
  readonly heartbeatMs: number;
}

/** …unless the bell rings within this time: the producer was interrupted before ringing. */
const LATE_RING_MS = 1000;
/** Length of the window in which the rate is measured, and of a pause at a high rate. */
export const PAUSE_MS = 1;
const RECORDS_PER_MS = 32;
/** Pause between two searches for records while modules load: the thread must not block on the bell. */
const LOADING_PAUSE_MS = 4;

/**
 * Runs from the first message until `shutdown` arrives. Until the first message the thread only shows signs of life, because
 * other roles may use the memory while the thread starts.
 */
export async function runShard(task: ShardTask): Promise<void> {
  const port = new PolledPort(task.port);
  const { bell, heartbeat } = new PipelineWords(task.memory).shard(task.index);
  port.post({ type: 'ready' });
  while (!port.hasMessage()) {
    heartbeat.increment();
    bell.park(() => port.hasMessage(), task.heartbeatMs);
  }
  const forgotten = new ForgottenMemory();
  // This thread makes little garbage, so V8 would keep the tables of several lists.
  const dropped = (bytes: number): void => {
    forgotten.add(bytes);
    forgotten.collect();
  };
  const shard = createShard(task.index, task.memory, port, { dropped });
  const moderation = new Moderation(realClock.now());
  while (!port.isShutdown) {
    heartbeat.increment();
    const records = shard.doWork();
    moderation.add(records);
    shard.usage.publishCpuTime(records > 0);
    const hasProgress = port.poll() || records > 0;
    if (shard.isLoading) {
      await eventLoop(hasProgress);
    } else if (records === 0 && moderation.shouldPause(realClock.now())) {
      bell.nap(PAUSE_MS);
    } else if (records === 0 && !port.isShutdown) {
      const isRung = bell.park(() => shard.hasWork() || port.poll(), task.heartbeatMs);
      if (!isRung && shard.hasWork() && !bell.ringsWithin(LATE_RING_MS))
        (shard.usage.values[UsageCounter.LostWakeups] as number)++;
    }
  }
  port.post({ type: 'closed' });
  task.port.close();
}

/**
 * Lets imports and their deadlines continue: for a turn of the event loop, or for a pause if there is no other work.
 */
function eventLoop(isBusy: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (isBusy) realTimers.setImmediate(resolve);
    else realTimers.setTimeout(resolve, LOADING_PAUSE_MS);
  });
}

interface Envelope {
  readonly message: ToShard;
}

class PolledPort implements ControlPort<ToShard, FromShard> {
  isShutdown = false;
  readonly #port: MessagePort;
  /** The first message, until `poll` passes it on. */
  #first: Envelope | undefined;
  #listener: ((message: ToShard) => void) | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  onMessage(listener: (message: ToShard) => void): void {
    this.#listener = listener;
  }

  post(message: FromShard): void {
    this.#port.postMessage(message);
  }

  /** Returns whether the first message has arrived. */
  hasMessage(): boolean {
    this.#first ??= receiveMessageOnPort(this.#port);
    return this.#first !== undefined;
  }

  /** Passes waiting messages to the shard; returns true when there were any. */
  poll(): boolean {
    let received = false;
    for (;;) {
      const envelope: Envelope | undefined = this.#first ?? receiveMessageOnPort(this.#port);
      this.#first = undefined;
      if (!envelope) return received;
      received = true;
      if (envelope.message.type === 'shutdown') this.isShutdown = true;
      this.#listener?.(envelope.message);
    }
  }
}

/**
 * Decision of an idle thread between a short pause and parking on the bell. At high rates a pause costs less than a
 * wake-up for every read (docs/decisions/0004). The rate decides, not the size of a batch: over TLS all data comes in
 * pieces of 16 KiB, about three objects each.
 */
export class Moderation {
  #records = 0;
  #windowStart: number;
  #isBusy = false;

  constructor(nowMs: number) {
    this.#windowStart = nowMs;
  }

  add(records: number): void {
    this.#records += records;
  }

  /** Returns whether to pause; called when no work is left. */
  shouldPause(nowMs: number): boolean {
    const elapsedMs = nowMs - this.#windowStart;
    if (elapsedMs >= PAUSE_MS) {
      this.#isBusy = this.#records > RECORDS_PER_MS * elapsedMs;
      this.#windowStart = nowMs;
      this.#records = 0;
    }
    return this.#isBusy;
  }
}
