/** The threads in which a controller reconciles, and the caches that the threads read. */
import { invalidOption } from '../base/option-checks.ts';
import { ReconcilerPool } from '../thread/pool/reconciler-pool.ts';
import { SharedCache } from '../thread/main/shared-cache.ts';
import type { InformerHandle } from '../informer/map/informer-handle.ts';
import type { KubeObject } from '../index.ts';
import type { Shareable } from '../informer/shareable.ts';
import type { ReconcileContext } from './controller-options.ts';
import type { ReconcileResult } from '../workqueue/reconcile-result.ts';

export class ControllerThreads {
  readonly #cache: SharedCache;
  readonly #pool: ReconcilerPool;

  /**
   * @param threads number of threads; undefined: the number of cores
   * @throws ERR_KUBELOOM_OPTION for a kind with several namespaces, and for two kinds of the same name
   */
  constructor(module: URL, handles: readonly InformerHandle<KubeObject>[], threads: number | undefined) {
    const informers: Record<string, Shareable> = {};
    for (const handle of handles) {
      const { resource } = handle.resource;
      const informer = handle.share();
      if ((informers[resource] ??= informer) === informer) continue;
      invalidOption(
        'kinds of a controller in threads',
        resource,
        'resources with different names: threads ask by name',
      );
    }
    this.#cache = new SharedCache(informers);
    this.#pool = new ReconcilerPool(module, { cache: this.#cache, ...(threads && { threads }) });
  }

  get threads(): number {
    return this.#pool.threads;
  }

  readonly reconcile = (key: string, { signal, reconcileID }: ReconcileContext): Promise<ReconcileResult> =>
    this.#pool.reconcile(key, { signal, reconcileID });

  /** Ends the threads when their reconciliations have ended. */
  async close(): Promise<void> {
    await this.#pool.close();
    await this.#cache.close();
  }
}
