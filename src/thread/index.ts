/**
 * `kubeloom/thread`: the caches of the main thread in a worker thread of the program. This entry does not load the code
 * that lists and watches.
 */
export { openCache } from './worker/open-cache.ts';
export type { OpenCacheOptions, ThreadCache } from './worker/open-cache.ts';
export type { ThreadHealth, ThreadInformer } from './worker/thread-informer.ts';
export type { ThreadContext, ThreadReconcile } from './pool/reconcile-task.ts';
export { TerminalError } from '../workqueue/terminal-error.ts';
export type { ReconcileResult } from '../workqueue/reconcile-result.ts';
export type { CachePort } from './main/shared-cache.ts';
export { SharedCache } from './main/shared-cache.ts';
export type { Shareable } from '../informer/shareable.ts';
export { ReconcilerPool } from './pool/reconciler-pool.ts';
export type { ReconcileCallOptions, ReconcilerPoolOptions } from './pool/reconciler-pool.ts';
