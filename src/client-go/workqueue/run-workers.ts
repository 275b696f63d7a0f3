/**
 * The main loop of a controller: take an item, reconcile it, and retry it later when that failed. Workers of a named
 * queue have controller-runtime's metrics, with the queue's name as their controller.
 */
import { realClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { isAbortOf } from '../../base/on-abort.ts';
import { escapeControls } from '../../base/printable.ts';
import { reconcileChannel } from '../../base/metrics/trace-channels.ts';
import type { ReconcileMessage, Reconciled } from '../../base/metrics/trace-channels.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import type { RateLimitingQueue } from './rate-limiting-queue.ts';
import { TerminalError } from './terminal-error.ts';

/** Result of a reconciliation: nothing more to do, or reconcile again after a while. */
export type ReconcileResult = void | { readonly requeueAfterMs: number };

export interface RunWorkersOptions<T> {
  /** Ends the work: items in progress are finished, waiting items stay. */
  readonly signal?: AbortSignal;
  /** Called with every failure; the end of a call that the signal has ended is none. `retries` is the number of earlier failures of the item. Default: a process warning. */
  readonly onError?: (error: unknown, item: T, retries: number) => void;
  /** Failures after which an item is given up. Default: never. */
  readonly retriesMax?: number;
  /** Clock of the metrics. Default: the real one. */
  readonly clock?: Clock;
}

/** Reconciles items elsewhere: a `ReconcilerPool` does it in other threads. */
export interface ItemReconciler<T> {
  /** Number of items that it reconciles at the same time. */
  readonly threads: number;
  reconcile(item: T, signal: AbortSignal | undefined): Promise<ReconcileResult>;
}

type Reconcile<T> = (item: T, signal: AbortSignal | undefined) => Promise<ReconcileResult> | ReconcileResult;

/**
 * Runs `count` workers until the queue is shut down and empty, or the signal is aborted. An item whose
 * `reconcile` throws is added again with the delay of the rate limiter, which forgets an item that succeeds; an item that
 * fails with a `TerminalError` is given up.
 */
export async function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  count: number,
  reconcile: (item: T, signal: AbortSignal | undefined) => Promise<ReconcileResult> | ReconcileResult,
  options?: RunWorkersOptions<T>,
): Promise<void>;
/** The same with a pool, one worker for each of its threads. */
export async function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  pool: ItemReconciler<T>,
  options?: RunWorkersOptions<T>,
): Promise<void>;
export async function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  workers: number | ItemReconciler<T>,
  second: Reconcile<T> | RunWorkersOptions<T> = {},
  third: RunWorkersOptions<T> = {},
): Promise<void> {
  const isPool = typeof workers === 'object';
  const count = isPool ? workers.threads : workers;
  const reconcile = isPool ? workers.reconcile.bind(workers) : (second as Reconcile<T>);
  const options = isPool ? (second as RunWorkersOptions<T>) : third;
  const metrics = queue.name === '' ? undefined : new ControllerMetrics(queue.name, count);
  try {
    await Promise.all(Array.from({ length: count }, () => work(queue, reconcile, options, metrics)));
  } finally {
    metrics?.ended();
  }
}

async function work<T>(
  queue: RateLimitingQueue<T>,
  reconcile: Reconcile<T>,
  options: RunWorkersOptions<T>,
  metrics: ControllerMetrics | undefined,
): Promise<void> {
  const { signal, clock = realClock } = options;
  for (;;) {
    const item = await next(queue, signal);
    if (item === undefined) return;
    metrics?.began();
    const startMs = clock.now();
    let reconciled: Reconciled = { outcome: 'error' };
    try {
      reconciled = await (reconcileChannel.hasSubscribers
        ? reconcilePublished(queue, item, reconcile, options)
        : reconcileOne(queue, item, reconcile, options));
    } finally {
      metrics?.reconciled(reconciled, clock.now() - startMs);
      queue.done(item);
    }
  }
}

/** Reconciles the item. Adds it again when that failed or asks for it. */
async function reconcileOne<T>(
  queue: RateLimitingQueue<T>,
  item: T,
  reconcile: Reconcile<T>,
  options: RunWorkersOptions<T>,
): Promise<Reconciled> {
  try {
    const result = await reconcile(item, options.signal);
    queue.forget(item);
    if (!result) return { outcome: 'success' };
    queue.addAfter(item, result.requeueAfterMs);
    return { outcome: 'requeue_after' };
  } catch (error) {
    failed(queue, item, error, options);
    return { outcome: 'error', error };
  }
}

/** The same, with what a subscriber of the channel has put around it. */
function reconcilePublished<T>(
  queue: RateLimitingQueue<T>,
  item: T,
  reconcile: Reconcile<T>,
  options: RunWorkersOptions<T>,
): Promise<Reconciled> {
  const message: ReconcileMessage = {
    queue,
    key: queue.keyOf(item),
    retries: queue.numRequeues(item),
    run: () => reconcileOne(queue, item, reconcile, options),
  };
  reconcileChannel.publish(message);
  return message.run();
}

/** Returns the next item; undefined also after an abort, which is no failure. */
async function next<T>(queue: RateLimitingQueue<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  try {
    return await queue.get(signal);
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
}

function failed<T>(
  queue: RateLimitingQueue<T>,
  item: T,
  error: unknown,
  { signal, onError = warn, retriesMax = Infinity }: RunWorkersOptions<T>,
): void {
  const retries = queue.numRequeues(item);
  if (retries < retriesMax && !(error instanceof TerminalError)) queue.addRateLimited(item);
  else queue.forget(item);
  // A reconciliation that ends because the workers are stopped has not failed.
  if (!isAbortOf(error, signal)) onError(error, item, retries);
}

function warn(error: unknown, item: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  process.emitWarning(escapeControls(`reconciling ${String(item)} failed: ${reason}`), {
    type: 'KubeloomWarning',
    code: 'ERR_KUBELOOM_RECONCILE',
  });
}
