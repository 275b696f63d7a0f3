/**
 * The reflector thread: sockets drive it, so it never blocks. While it holds a backlog it looks again and
 * again whether room has appeared in a ring or in the log.
 */
import { backgroundClock, realTimers } from '../clock.ts';
import type { MessagePort } from 'node:worker_threads';
import { BellWatch } from './bell-watch.ts';
import { PipelineWords } from './layout.ts';
import type { PipelineMemory } from './layout.ts';
import type { ControlPort, FromReflectorThread, StatsRequest, ToReflectorThread } from './protocol.ts';
import { createReflector } from './reflector-host.ts';
import { threadCpuMs } from './thread-cpu.ts';

/** Each read is published at once. Larger ones were not faster, smaller ones cost more (docs/decisions/0007). */
const READ_BYTES = 256 * 1024;
const HEARTBEAT_MS = 250;
/**
 * Who holds a backlog looks for room after a nap, in vain after one of twice that length, and parks on its bell only when
 * these are over: the main thread rings for every few objects, and room comes by the block, hundreds of objects later.
 * Each wake-up in vain would cost the main thread its core (docs/decisions/0013).
 */
const NAP_MS = 1;
const NAP_MS_MAX = 64;

export interface ReflectorTask {
  readonly memory: PipelineMemory;
  readonly port: MessagePort;
}

export function runReflector(task: ReflectorTask): void {
  const { reflectorBell, reflectorHeartbeat: heartbeat, committed } = new PipelineWords(task.memory);
  const bell = new BellWatch(reflectorBell, backgroundClock);
  // From the event loop: a thread that does not come to it does not answer.
  realTimers.setInterval(() => heartbeat.increment(), HEARTBEAT_MS).unref();
  heartbeat.increment();
  const firstSequence = committed.load();
  let isClosed = false;
  const port: ControlPort<ToReflectorThread, FromReflectorThread> = {
    post: (message) => {
      task.port.postMessage(message);
      if (message.type !== 'closed') return;
      isClosed = true;
      bell.close();
      task.port.close();
    },
    onMessage: (listener) => {
      task.port.on('message', (message: ToReflectorThread | StatsRequest) => {
        if (message.type === 'stats') {
          const deltas = (committed.load() - firstSequence) >>> 0;
          const { lostWakeups } = bell;
          task.port.postMessage({ type: 'stats', deltas, cpuMs: threadCpuMs(), lostWakeups });
          return;
        }
        listener(message);
        watchBacklog();
      });
    },
  };
  const onBacklog = (): void => watchBacklog();
  const reflector = createReflector({ memory: task.memory, port, onBacklog, readBytes: READ_BYTES });
  let isWatching = false;

  function watchBacklog(): void {
    if (isWatching || isClosed || !reflector.hasBacklog) return;
    isWatching = true;
    lookAfter(NAP_MS);
  }

  function lookAfter(napMs: number): void {
    realTimers.setTimeout(() => {
      const hasWorked = reflector.doWork() > 0;
      if (isClosed || !reflector.hasBacklog) isWatching = false;
      else if (hasWorked) lookAfter(NAP_MS);
      else if (napMs < NAP_MS_MAX) lookAfter(napMs * 2);
      else waitForBell();
    }, napMs);
  }

  function waitForBell(): void {
    void bell
      .parkAsync(() => reflector.doWork() > 0)
      .then(() => {
        isWatching = false;
        watchBacklog();
      });
  }
}
