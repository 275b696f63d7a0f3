/**
 * The reflector thread: sockets drive it, so it never blocks. It parks on its bell only to learn that room
 * appeared in a ring or in the log while it holds a backlog.
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

  /** While there is a backlog, every ring of the bell is a chance to continue it. */
  function watchBacklog(): void {
    if (isWatching || isClosed || !reflector.hasBacklog) return;
    isWatching = true;
    void bell
      .parkAsync(() => reflector.doWork() > 0)
      .then(() =>
        // Through the event loop: sockets and timers must not starve behind a backlog that always moves.
        realTimers.setImmediate(() => {
          isWatching = false;
          reflector.doWork();
          watchBacklog();
        }),
      );
  }
}
