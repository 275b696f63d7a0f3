/** A reflector thread: a Worker with an event loop. */
import { MessageChannel, Worker } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { PipelineMemory } from '../../shared/layout.ts';
import type {
  FromReflectorThread,
  StatsAnswer,
  StatsRequest,
  ToReflectorThread,
} from '../../shared/protocol.ts';
import type { ReflectorTask } from '../../reflector/create-reflector.ts';
import type { WorkerThread, WorkerThreadEvents } from './worker-thread.ts';
import { workerUrl } from './worker-files.ts';

export class ReflectorWorker implements WorkerThread<ToReflectorThread | StatsRequest> {
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #port: MessagePort;

  constructor(memory: PipelineMemory, events: WorkerThreadEvents<FromReflectorThread | StatsAnswer>) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', events.message);
    const task: ReflectorTask = { memory, port: port2 };
    const worker = new Worker(workerUrl('reflector'), {
      workerData: task,
      transferList: [port2],
      name: 'kubeloom-reflector',
    });
    this.#worker = worker;
    worker.on('error', events.died);
    this.ended = new Promise((resolve) => {
      worker.on('exit', (code) => {
        // Report exit code 0, too; the caller ignores the end of a thread that it has terminated.
        events.died(new Error(`exit code ${code}`));
        resolve();
      });
    });
  }

  post(message: ToReflectorThread | StatsRequest): void {
    this.#port.postMessage(message);
  }

  unref(): void {
    this.#worker.unref();
    this.#port.unref();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
    await this.ended;
    this.#port.close();
  }
}
