/**
 * `kubeloom/thread`: the caches of the main thread in a worker thread of the program. This entry does not load the code
 * that lists and watches.
 */
export { openCache } from './open-cache.ts';
export type { OpenCacheOptions, ThreadCache } from './open-cache.ts';
export type { ThreadHealth, ThreadInformer } from './thread-informer.ts';
export type { ThreadContext, ThreadReconcile } from './pool/reconcile-task.ts';
export { TerminalError } from '../workqueue/terminal-error.ts';
export type { ReconcileResult } from '../workqueue/reconcile-result.ts';
export type { CachePort } from '../informer/share/shared-cache.ts';
export { SharedCache } from '../informer/share/shared-cache.ts';
export type { Shareable } from '../informer/share/shared-cache.ts';
export { ReconcilerPool } from './pool/reconciler-pool.ts';
export type { ReconcileCallOptions, ReconcilerPoolOptions } from './pool/reconciler-pool.ts';
