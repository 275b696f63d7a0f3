/** Runs the whole pipeline against the embedded apiserver: servers, informers and recorders for the tests. */
import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type {
  EmbeddedApiServer,
  EmbeddedApiServerOptions,
} from '../../../../src/tools/apiserver/testing/index.ts';
import { PODS, pod } from '../../../kit/objects.ts';
import { kubeConfigOf } from '../../../kit/scene.ts';
import { InformerThreads, SharedIndexInformer } from '../../../../src/index.ts';
import type { Borrowed, InformerOptions, ResourceEventHandler } from '../../../../src/index.ts';

export { PODS, kubeConfigOf, pod };

export const SYNC_TIMEOUT_MS = 30_000;

/** The pipeline's variants that must all behave alike. */
export const VARIANTS = [
  { threads: 0, codec: 'json' },
  { threads: 0, codec: 'msgpack' },
  { threads: 2, codec: 'json' },
  { threads: 2, codec: 'msgpack' },
] as const;
export type Variant = (typeof VARIANTS)[number];

/** One notification: what a test compares with the server's log. */
export interface Seen {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly key: string;
  readonly resourceVersion: string;
  readonly isInInitialList: boolean;
}

export class Recorder implements ResourceEventHandler<V1Pod> {
  readonly seen: Seen[] = [];
  readonly #waiters: { readonly isDone: () => boolean; readonly resolve: () => void }[] = [];

  onAdd(added: Borrowed<V1Pod>, isInInitialList: boolean): void {
    this.#record('ADDED', added, isInInitialList);
  }

  onUpdate(_previous: Borrowed<V1Pod>, current: Borrowed<V1Pod>): void {
    this.#record('MODIFIED', current, false);
  }

  onDelete(deleted: { readonly key: string; readonly resourceVersion?: string }): void {
    this.#record('DELETED', deleted, false);
  }

  /** Resolves when the condition holds after some notification. */
  until(isDone: () => boolean): Promise<void> {
    if (isDone()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ isDone, resolve }));
  }

  get latest(): Seen | undefined {
    return this.seen.at(-1);
  }

  #record(
    type: Seen['type'],
    object: { readonly key: string; readonly resourceVersion?: string },
    isInInitialList: boolean,
  ): void {
    this.seen.push({ type, key: object.key, resourceVersion: object.resourceVersion ?? '', isInInitialList });
    for (const waiter of this.#waiters.splice(0)) {
      if (waiter.isDone()) waiter.resolve();
      else this.#waiters.push(waiter);
    }
  }
}

/** A server, threads of the variant, and informers on them; everything ends with the harness. */
export class Harness implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly threads: InformerThreads;
  readonly errors: Error[] = [];
  readonly #codec: 'json' | 'msgpack';
  readonly #informers: SharedIndexInformer<V1Pod>[] = [];
  readonly #runs: Promise<void>[] = [];

  private constructor(server: EmbeddedApiServer, threads: InformerThreads, codec: 'json' | 'msgpack') {
    this.server = server;
    this.threads = threads;
    this.#codec = codec;
  }

  static async start(
    variant: Variant,
    serverOptions: EmbeddedApiServerOptions = {},
    threadsOptions: ConstructorParameters<typeof InformerThreads>[0] = {},
  ): Promise<Harness> {
    const server = await startEmbeddedApiServer(serverOptions);
    return new Harness(
      server,
      new InformerThreads({ indexerThreads: variant.threads, ...threadsOptions }),
      variant.codec,
    );
  }

  informer(options: InformerOptions<V1Pod> = {}): SharedIndexInformer<V1Pod> {
    const informer = new SharedIndexInformer<V1Pod>(kubeConfigOf(this.server), PODS, {
      threads: this.threads,
      codec: this.#codec,
      onError: (error) => this.errors.push(error),
      backoff: { initialMs: 5, maxMs: 50 },
      ...options,
    });
    this.#informers.push(informer);
    return informer;
  }

  run(informer: SharedIndexInformer<V1Pod>): void {
    this.#runs.push(informer.run());
  }

  /** Runs the informer and waits until it has synced. */
  async synced(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    this.run(informer);
    await informer.waitForSync({ signal: AbortSignal.timeout(SYNC_TIMEOUT_MS) });
  }

  /** Keys and versions in the informer's store equal the server's. */
  async assertStoreEqualsServer(informer: SharedIndexInformer<V1Pod>): Promise<void> {
    const expected = await this.server.state('pods');
    const actual = new Map(
      informer
        .getStore()
        .list()
        .map((entry) => [entry.key, entry.resourceVersion]),
    );
    assert.deepEqual(actual, expected);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const informer of this.#informers) await informer[Symbol.asyncDispose]();
    await Promise.allSettled(this.#runs);
    await this.threads.close();
    await this.server.close();
  }
}
