/**
 * The loop of the reflector thread. Sockets drive it, so it never blocks. While it holds a backlog it polls
 * for room in a ring or in the log.
 */
import { backgroundClock, realTimers } from '../base/clock.ts';
import type { MessagePort } from 'node:worker_threads';
import { BellWatch } from '../shared/ring/bell-watch.ts';
import { PipelineWords } from '../shared/layout.ts';
import type { PipelineMemory } from '../shared/layout.ts';
import type {
  ControlPort,
  FromReflectorThread,
  StatsRequest,
  ToReflectorThread,
} from '../shared/protocol.ts';
import { createReflector } from './create-reflector.ts';
import { threadCpuMs } from '../base/thread-cpu.ts';

/**
 * The size of one read; each read is published at once. Larger reads were not faster, smaller ones cost more
 * (docs/decisions/0007).
 */
const READ_BYTES = 256 * 1024;
const HEARTBEAT_MS = 250;
/**
 * The first pause of a thread with a backlog. It looks for room after this pause, after a second one of
 * twice the length, and only then parks on its bell. The main thread rings for every few objects, but room
 * comes a block (hundreds of objects) at a time. Each needless wake-up would cost the main thread its core
 * (docs/decisions/0013).
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
  // The event loop runs this timer, so a blocked thread stops its heartbeat.
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
