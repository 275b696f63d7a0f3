/**
 * The reflector thread: sockets drive it, so it never blocks. It parks on its bell only to learn that room
 * appeared in a ring or in the log while it holds a backlog.
 */
import type { MessagePort } from 'node:worker_threads';
import { PipelineWords } from './layout.ts';
import type { PipelineMemory } from './layout.ts';
import type { ControlPort, FromReflector, StatsRequest, ToReflector } from './protocol.ts';
import { createReflector } from './reflector-host.ts';
import { threadCpuMs } from './thread-cpu.ts';

export interface ReflectorTask {
  readonly memory: PipelineMemory;
  readonly port: MessagePort;
}

export function runReflector(task: ReflectorTask): void {
  const { reflectorBell: bell, committed } = new PipelineWords(task.memory);
  const firstSequence = committed.load();
  let isClosed = false;
  const port: ControlPort<ToReflector, FromReflector> = {
    post: (message) => {
      task.port.postMessage(message);
      if (message.type !== 'closed') return;
      isClosed = true;
      task.port.close();
    },
    onMessage: (listener) => {
      task.port.on('message', (message: ToReflector | StatsRequest) => {
        if (message.type === 'stats') {
          const deltas = (committed.load() - firstSequence) >>> 0;
          task.port.postMessage({ type: 'stats', deltas, cpuMs: threadCpuMs() });
          return;
        }
        listener(message);
        watchBacklog();
      });
    },
  };
  const reflector = createReflector({ memory: task.memory, port, onBacklog: () => watchBacklog() });
  let isWatching = false;

  /** While there is a backlog, every ring of the bell is a chance to continue it. */
  function watchBacklog(): void {
    if (isWatching || isClosed || !reflector.hasBacklog) return;
    isWatching = true;
    void bell
      .parkAsync(() => reflector.doWork() > 0)
      .then(() =>
        // Through the event loop: sockets and timers must not starve behind a backlog that always moves.
        setImmediate(() => {
          isWatching = false;
          reflector.doWork();
          watchBacklog();
        }),
      );
  }
}
