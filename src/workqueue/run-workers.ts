/**
 * The main loop of a controller: take an item, reconcile it, and retry it later when that failed. Workers of a named
 * queue have controller-runtime's metrics, with the queue's name as their controller.
 */
import { callGuarded } from '../base/callbacks.ts';
import { realClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { KubeloomError, inspectable, messageOf } from '../base/errors.ts';
import { LimitedWarnings } from '../base/limited-warnings.ts';
import { isAbortOf } from '../base/on-abort.ts';
import {
  callback,
  clock as aClock,
  having,
  number,
  signal as aSignal,
  checkInteger,
  checkOptions,
} from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import { reconcileChannel } from '../metrics/trace-channels.ts';
import type { ReconcileMessage, Reconciled } from '../metrics/trace-channels.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import type { RateLimitingQueue } from './rate-limiting-queue.ts';
import { retryAfterMs } from '../kube/retry.ts';
import { requeueDelayMs } from './reconcile-result.ts';
import type { ReconcileResult } from './reconcile-result.ts';
import { isTerminal } from './terminal-error.ts';

/** Options of workers. */
export interface RunWorkersOptions<T> {
  /** Ends the work: items in progress are finished, waiting items stay. */
  readonly signal?: AbortSignal;
  /** Called with every failure; a call that the signal ended is none. `retries` is the number of earlier failures of the item. Default: a process warning. */
  readonly onError?: (error: unknown, item: T, retries: number) => unknown;
  /** Failures after which an item is given up. Default: never. */
  readonly retriesMax?: number;
  /** Clock of the metrics. Default: the real clock. */
  readonly clock?: Clock;
  /** @internal Keeps an item in work after the reconciliation, until the promise is fulfilled; the worker goes on. */
  readonly hold?: (item: T) => Promise<void> | undefined;
}

const WORKERS_CHECKS: OptionChecks<RunWorkersOptions<unknown>> = {
  signal: aSignal,
  onError: callback,
  retriesMax: number(0, Infinity),
  clock: aClock,
  hold: callback,
};

/** Reconciles items elsewhere: a `ReconcilerPool` does it in other threads. */
export interface ItemReconciler<T> {
  /** Number of items that it reconciles at the same time. */
  readonly threads: number;
  /** Reconciles an item. After a rejection, `runWorkers` retries the item or gives it up. */
  reconcile(item: T, options?: SignalOptions): Promise<ReconcileResult>;
}

const aQueue = having('a RateLimitingQueue', 'poll', 'done', 'addRateLimited', 'forget');

const aPool = having('a pool with reconcile()', 'reconcile');

/** The options of one call of `runWorkers`, and the warnings of its failures. */
type Run<T> = RunWorkersOptions<T> & { readonly warnings: LimitedWarnings };

type Reconcile<T> = (item: T, signal: AbortSignal | undefined) => Promise<ReconcileResult> | ReconcileResult;

/** Reconciles with a pool, with a worker for each thread of the pool. */
export async function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  pool: ItemReconciler<T>,
  options?: RunWorkersOptions<T>,
): Promise<void>;
// The compiler explains a wrong call by the last overload.
/**
 * Runs `count` workers until the queue is shut down and empty, or the signal is aborted. An item whose
 * `reconcile` throws, or returns anything but a `ReconcileResult`, is added again with the delay of the rate limiter, which
 * forgets an item that succeeds; an item that fails with a `TerminalError` is given up.
 *
 * @throws ERR_KUBELOOM_OPTION
 */
export async function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  count: number,
  reconcile: (item: T, signal: AbortSignal | undefined) => Promise<ReconcileResult> | ReconcileResult,
  options?: RunWorkersOptions<T>,
): Promise<void>;
export async function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  workers: number | ItemReconciler<T>,
  second: Reconcile<T> | RunWorkersOptions<T> = {},
  third: RunWorkersOptions<T> = {},
): Promise<void> {
  aQueue('queue', queue);
  if (typeof workers === 'object') aPool('pool', workers);
  const isPool = typeof workers === 'object';
  const count = isPool ? workers.threads : workers;
  const reconcile: Reconcile<T> = isPool
    ? (item, signal) => workers.reconcile(item, signal ? { signal } : {})
    : (second as Reconcile<T>);
  const options = isPool ? (second as RunWorkersOptions<T>) : third;
  checkInteger('count of workers', count, 1, Number.MAX_SAFE_INTEGER);
  callback('reconcile', reconcile);
  checkOptions('options of workers', options, WORKERS_CHECKS);
  const warnings = new LimitedWarnings(options.clock ?? realClock);
  const run = { ...options, warnings };
  const metrics = queue.name === '' ? undefined : new ControllerMetrics(queue.name, count);
  try {
    await Promise.all(Array.from({ length: count }, () => work(queue, reconcile, run, metrics)));
  } finally {
    metrics?.ended();
  }
}

async function work<T>(
  queue: RateLimitingQueue<T>,
  reconcile: Reconcile<T>,
  options: Run<T>,
  metrics: ControllerMetrics | undefined,
): Promise<void> {
  const { signal, clock = realClock, hold } = options;
  const holds = new Set<Promise<void>>();
  for (;;) {
    const item = queue.poll(signal) ?? (await queue.next(signal));
    if (item === undefined) return void (await Promise.all(holds));
    metrics?.began();
    const startMs = clock.now();
    let reconciled: Reconciled = { outcome: 'error' };
    try {
      reconciled = await (reconcileChannel.hasSubscribers
        ? reconcilePublished(queue, item, reconcile, options)
        : reconcileOne(queue, item, reconcile, options));
    } finally {
      metrics?.reconciled(reconciled, clock.now() - startMs);
      const held = hold?.(item);
      if (!held) queue.done(item);
      else {
        const end = held.finally(() => {
          queue.done(item);
          holds.delete(end);
        });
        holds.add(end);
      }
    }
  }
}

/** Reconciles the item. Adds it again when that failed or asks for it. */
async function reconcileOne<T>(
  queue: RateLimitingQueue<T>,
  item: T,
  reconcile: Reconcile<T>,
  options: Run<T>,
): Promise<Reconciled> {
  try {
    const delayMs = requeueDelayMs(await reconcile(item, options.signal));
    attempt(item, options, () => queue.forget(item));
    if (delayMs === undefined) return { outcome: 'success' };
    queue.addAfter(item, delayMs);
    return { outcome: 'requeue_after' };
  } catch (error) {
    return failed(queue, item, inspectable(error), options);
  }
}

/** The call, wrapped in the function of a channel's subscriber. */
async function reconcilePublished<T>(
  queue: RateLimitingQueue<T>,
  item: T,
  reconcile: Reconcile<T>,
  options: Run<T>,
): Promise<Reconciled> {
  const message: ReconcileMessage = {
    queue,
    key: queue.keyOf(item),
    retries: attempt(item, options, () => queue.numRequeues(item)) ?? 0,
    run: () => reconcileOne(queue, item, reconcile, options),
  };
  reconcileChannel.publish(message);
  try {
    return await message.run();
  } catch (error) {
    return failed(queue, item, inspectable(error), options);
  }
}

function failed<T>(queue: RateLimitingQueue<T>, item: T, error: unknown, options: Run<T>): Reconciled {
  const { signal, retriesMax = Infinity } = options;
  const retries = attempt(item, options, () => queue.numRequeues(item)) ?? 0;
  const isGivenUp = retries >= retriesMax || isTerminal(error);
  if (!isGivenUp) queue.noteFailure(item, error);
  attempt(item, options, () => {
    if (isGivenUp) queue.forget(item);
    else queue.addRateLimited(item, retryAfterMs(error));
  });
  // A reconciliation that ends because the workers are stopped did not fail.
  if (!isAbortOf(error, signal)) report(error, item, retries, options);
  return { outcome: 'error', error };
}

/** Calls the queue, and with it the program's rate limiter. A fault of that is reported: the queue did its part. */
function attempt<T, Result>(item: T, options: Run<T>, call: () => Result): Result | undefined {
  try {
    return call();
  } catch (error) {
    report(error, item, 0, options);
    return undefined;
  }
}

function report<T>(error: unknown, item: T, retries: number, { onError, warnings }: Run<T>): void {
  if (onError) {
    callGuarded('onError', () => onError(error, item, retries));
    return;
  }
  const why = messageOf(error);
  const message = `reconciling ${messageOf(item)} failed: ${why}`;
  warnings.warn(new KubeloomError('ERR_KUBELOOM_RECONCILE', message, { cause: error }), why);
}
