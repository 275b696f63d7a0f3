/** Informers over a source on this thread, in the variants of the pipeline, and their handlers' notifications. */
import type { V1Pod } from '@kubernetes/client-node';
import type { KubeloomError, InformerOptions, ListerWatcher } from '../../../../../src/index.ts';
import { InformerThreads, SharedIndexInformer } from '../../../../../src/index.ts';
import { PODS } from '../../../../kit/objects.ts';
import { RecordingHandler } from '../../../../kit/recording-handler.ts';

/** In-process backend, one shard, several shards. */
export const THREADS = [0, 1, 3] as const;

/** Resolves when the condition holds; the event loop runs meanwhile. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

export class SourcedInformer implements AsyncDisposable {
  readonly informer: SharedIndexInformer<V1Pod>;
  readonly recorder: RecordingHandler = new RecordingHandler();
  readonly errors: KubeloomError[] = [];
  readonly #threads: InformerThreads;
  readonly #waiters: (() => void)[] = [];

  constructor(
    source: ListerWatcher<V1Pod>,
    threads: number,
    options: InformerOptions<V1Pod> = {},
    ringBytes: number = 4 * 2 ** 20,
  ) {
    this.#threads = new InformerThreads({ indexerThreads: threads, ringBytes });
    this.informer = new SharedIndexInformer<V1Pod>(source, PODS, {
      threads: this.#threads,
      backoff: { initialMs: 1, maxMs: 5 },
      onError: (error) => {
        this.errors.push(error);
        for (const look of this.#waiters.splice(0)) look();
      },
      ...options,
    });
    this.informer.addEventHandler(this.recorder);
  }

  /** The handler's notifications: `add default/a@1`, and `!` after those of the initial list. */
  get seen(): string[] {
    return this.recorder.calls.map(
      ({ type, key, version, isInInitialList }) => `${type} ${key}@${version}${isInInitialList ? '!' : ''}`,
    );
  }

  run(): this {
    // Tests assert the informer's end where it matters; nothing here makes it fail.
    void this.informer.run();
    return this;
  }

  /** Resolves with the first error of this code, reported before or from now on. */
  async error(code: string, message: RegExp = /./): Promise<KubeloomError> {
    for (;;) {
      const found = this.errors.find((error) => error.code === code && message.test(error.message));
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer[Symbol.asyncDispose]();
    await this.#threads.close();
  }
}
