/** `kubeloom/workqueue`: work queues, rate limiters and the workers that reconcile their keys. */
export { WorkQueue } from './work-queue.ts';
export type { WorkQueueOptions, WorkOrder } from './work-queue.ts';
export type { WorkQueueMetrics } from './queue-metrics.ts';
export { DelayingQueue, RateLimitingQueue } from './rate-limiting-queue.ts';
export type { RateLimitingQueueOptions } from './rate-limiting-queue.ts';
export { PriorityQueue } from './priority-queue.ts';
export type { AddOptions, PriorityQueueOptions } from './priority-queue.ts';
export {
  BucketRateLimiter,
  ItemExponentialFailureRateLimiter,
  ItemFastSlowRateLimiter,
  MaxOfRateLimiter,
  WithMaxWaitRateLimiter,
  defaultControllerRateLimiter,
  defaultItemBasedRateLimiter,
} from './rate-limiters.ts';
export type { RateLimiter } from './rate-limiters.ts';
export { TerminalError } from './terminal-error.ts';
export { runWorkers } from './run-workers.ts';
export type { ItemReconciler, RunWorkersOptions } from './run-workers.ts';
export type { ReconcileResult } from './reconcile-result.ts';
export { parallelizeUntil } from './parallelize-until.ts';
export type { ParallelizeOptions } from './parallelize-until.ts';
