/**
 * Informers that change their backend, with all roles on this thread: acts happen after chosen stores to shared memory, such
 * as the start of the second backend, the end of that start, or a death. The second backend begins with its first message,
 * as threads do.
 */
import type {
  Backend,
  BackendEvents,
  Role,
  StartingBackend,
  ThreadsParts,
} from '../../../src/informer/threads/backend.ts';
import { READ_BYTES, WORK_MAX } from '../../../src/informer/threads/backend-step.ts';
import { InProcessBackend } from '../../../src/informer/threads/in-process-backend.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { allocatePipeline } from '../../../src/shared/pipeline-layout.ts';
import type { PipelineMemory } from '../../../src/shared/pipeline-layout.ts';
import type { ToReflectorThread, ToShard } from '../../../src/shared/protocol.ts';
import { Word } from '../../../src/shared/ring/word.ts';
import { wrap } from './mortal-twin.ts';

const MIB = 2 ** 20;
const SHARDS = 2;
/** First sequence, chosen so that the history crosses the wrap of u32. */
const FIRST_SEQUENCE: number = 2 ** 32 - 12;

/** A backend on this thread that is ready when a test says so. */
export class LaterTwin implements StartingBackend {
  readonly isThreaded = false;
  readonly ready: Promise<void>;
  isEnded = false;
  load!: () => void;
  readonly #begin: () => InProcessBackend;
  readonly #events: BackendEvents;
  #begun: InProcessBackend | undefined;

  constructor(memory: PipelineMemory, events: BackendEvents, wake: () => void) {
    this.ready = new Promise((resolve) => (this.load = resolve));
    this.#events = events;
    this.#begin = () => (this.#begun ??= new InProcessBackend(memory, events, wake));
  }

  runOnce(): boolean {
    return this.#begun?.runOnce() ?? false;
  }

  toReflector(message: ToReflectorThread): void {
    this.#begin().toReflector(message);
  }

  toShard(shard: number, message: ToShard): void {
    this.#begin().toShard(shard, message);
  }

  kill(role: Role): void {
    if (this.#begun) this.#begun.kill(role);
    else this.#events.died(role, new Error('killed'));
  }

  askForHeartbeats(): void {}

  async end(): Promise<void> {
    this.isEnded = true;
    await this.#begun?.end();
  }

  publishUsage(): void {
    this.#begun?.publishUsage();
  }

  unref(): void {
    this.#begun?.unref();
  }

  async close(): Promise<void> {
    await this.#begun?.close();
  }
}

/** An act, and the store to shared memory after which it happens; 1 is the first. */
export interface Act {
  readonly atStore: number;
  readonly act: (twin: ChangingTwin) => unknown;
}

export class ChangingTwin implements AsyncDisposable {
  readonly threads: InformerThreads;
  /** Backends of the calling thread so far, the latest last. */
  readonly first: InProcessBackend[] = [];
  readonly workers: LaterTwin[] = [];
  stores = 0;
  /** Reads that count as work of the calling thread. */
  reads = 0;
  readonly #restore: readonly (() => void)[];
  #read: BackendEvents['read'];

  constructor(acts: readonly Act[] = [], parts: ThreadsParts = {}) {
    const count = (_self: object, proceed: () => unknown): unknown => {
      this.stores++;
      for (const { atStore, act } of acts) if (atStore === this.stores) queueMicrotask(() => act(this));
      return proceed();
    };
    this.#restore = [wrap(Word.prototype, 'store', count), wrap(Word.prototype, 'increment', count)];
    this.threads = new InformerThreads(
      { logBytes: 16 * MIB },
      {
        cores: 2,
        ...parts,
        memory: allocatePipeline(SHARDS, 16 * MIB, 64 * 1024, FIRST_SEQUENCE),
        backend: (memory, events, wake): Backend => {
          const read = (bytes: number, isListing: boolean): void => {
            this.reads++;
            events.read?.(bytes, isListing);
          };
          this.#read = read;
          const backend = new InProcessBackend(memory, { ...events, read }, wake);
          this.first.push(backend);
          return backend;
        },
        workers: (...args) => {
          const workers = new LaterTwin(...args);
          this.workers.push(workers);
          return workers;
        },
      },
    );
  }

  /** Many changes in a read, after which the second backend starts. */
  readManyChanges(): void {
    this.#read?.(WORK_MAX * READ_BYTES, false);
  }

  load(): void {
    this.workers.at(-1)?.load();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const restore of this.#restore) restore();
    await this.threads.close();
  }
}
