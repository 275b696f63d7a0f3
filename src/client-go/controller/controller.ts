/**
 * client-go's controller: a reflector that fills a queue, and a loop that processes the queue. `newController` is
 * client-go's `New`, `ControllerConfig` is client-go's `Config`.
 */
import { realTimers } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { DoneChecker } from '../../base/done-checker.ts';
import { KubeloomError, wrapped } from '../../base/errors.ts';
import type { ListerWatcher } from '../../kube/lister-watcher.ts';
import { ErrRequeue } from '../queue/queue.ts';
import type { PopProcess, Queue } from '../queue/queue.ts';
import { WarningReporter } from './warning-reporter.ts';
import { isAbortOf, onAbort } from '../../base/on-abort.ts';
import { callback, flag, having, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { requiredSignal } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';
import { REFLECTOR_CHECKS, Reflector, aListerWatcher, timesOf } from './reflector.ts';
import type { ReflectorOptions } from './reflector.ts';
import { anExpectedType } from './expected-type.ts';
import type { ExpectedType } from './expected-type.ts';

/** Duration of consecutive pops before timers and sockets get a turn. */
const SLICE_MS = 5;
/** Delay before a retry; doubles from the first value to the last. */
const RETRY_FIRST_MS = 5;
const RETRY_LAST_MS = 1000;

/** Parts and options of a controller. */
export interface ControllerConfig<Item, Popped> extends Omit<ReflectorOptions, 'resyncPeriodMs'> {
  /** Queue that the reflector fills and `process` empties. `run` closes the queue when the signal is aborted. */
  readonly queue: Queue<Item, Popped>;
  /** Functions by which the reflector lists and watches. */
  readonly listerWatcher: ListerWatcher<Item>;
  /** Called with each popped value; a call begins after the previous call has settled. */
  readonly process: PopProcess<Popped>;
  /** Called with several changes of different objects, if the queue supports it. */
  readonly processBatch?: PopProcess<Popped>;
  /** Type of the objects; events with objects of another type are reported and skipped. Default: any type. */
  readonly objectType?: ExpectedType;
  /** Default 0: never. */
  readonly fullResyncPeriodMs?: number;
  /**
   * Puts changes that could not be processed back into the queue, to retry them after a delay. For FIFO and DeltaFIFO
   * only: a RealFIFO keeps the order of all changes and cannot take a change back.
   */
  readonly retryOnError?: boolean;
}

const { resyncPeriodMs: aPeriod, ...SHARED_CHECKS } = REFLECTOR_CHECKS;
const CONTROLLER_CHECKS: OptionChecks<ControllerConfig<unknown, unknown>> = {
  ...SHARED_CHECKS,
  queue: having('a queue with pop() and hasSynced()', 'pop', 'hasSynced'),
  listerWatcher: aListerWatcher,
  process: callback,
  processBatch: callback,
  objectType: anExpectedType,
  fullResyncPeriodMs: aPeriod,
  retryOnError: flag,
};

/** Creates a controller. @throws ERR_KUBELOOM_OPTION for a queue that does not support the options */
export function newController<Item, Popped>(
  config: ControllerConfig<Item, Popped>,
): Controller<Item, Popped> {
  return new Controller(config);
}

/** client-go's controller: fills a queue by a reflector, and processes the changes one after another. */
export class Controller<Item, Popped> {
  readonly #config: ControllerConfig<Item, Popped>;
  readonly #reports: WarningReporter;
  #reflector: Reflector<Item> | undefined;

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(config: ControllerConfig<Item, Popped>) {
    checkOptions('options of a controller', config, CONTROLLER_CHECKS);
    for (const name of ['queue', 'listerWatcher', 'process'] as const)
      CONTROLLER_CHECKS[name](name, config[name]);
    if (config.retryOnError === true && !('addIfNotPresent' in config.queue)) {
      const message = 'retryOnError needs a queue that takes changes back: FIFO or DeltaFIFO';
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    this.#config = config;
    const { name = 'Controller', watchErrorHandler } = config;
    this.#reports = new WarningReporter(name, watchErrorHandler, timesOf(config).clock);
  }

  /**
   * Fills and processes the queue until the signal is aborted; queued changes then stay. Returns after the
   * processing in progress. May be called once.
   *
   * @throws ERR_KUBELOOM_STARTED
   */
  async run(options: Required<SignalOptions>): Promise<void> {
    const signal = requiredSignal('run()', options);
    if (this.#reflector)
      throw new KubeloomError('ERR_KUBELOOM_STARTED', 'the controller has already started');
    const { queue, listerWatcher, objectType, shouldResync, fullResyncPeriodMs, ...own } = this.#config;
    const { process: _process, processBatch: _batch, retryOnError: _retry, ...others } = own;
    const reflector = new Reflector(listerWatcher, objectType, queue, {
      ...others,
      ...(shouldResync ? { shouldResync } : {}),
      resyncPeriodMs: fullResyncPeriodMs ?? 0,
    });
    this.#reflector = reflector;
    const unlisten = onAbort(signal, () => queue.close());
    try {
      await Promise.all([reflector.run({ signal }), this.#processLoop(signal)]);
    } finally {
      unlisten();
    }
  }

  /** Returns whether the first list is processed. */
  hasSynced(): boolean {
    return this.#config.queue.hasSynced();
  }

  /** The state of `hasSynced` for `waitFor`. */
  get hasSyncedChecker(): DoneChecker {
    return this.#config.queue.hasSyncedChecker;
  }

  /** Returns the reflector's version; '' before it runs. */
  lastSyncResourceVersion(): string {
    return this.#reflector?.lastSyncResourceVersion() ?? '';
  }

  /**
   * Pops value after value until it is stopped. An error of the processing is reported, and the loop continues;
   * client-go's loop drops those errors silently.
   */
  async #processLoop(signal: AbortSignal): Promise<void> {
    const popOne = this.#popOne();
    const { clock } = timesOf(this.#config);
    let failures = 0;
    let sliceStart = clock.now();
    while (!signal.aborted) {
      try {
        await popOne(signal);
        failures = 0;
      } catch (error) {
        if (isAbortOf(error, signal) || isClosed(error)) return;
        this.#reports.report(wrapped('ERR_KUBELOOM_PROCESS', 'processing failed', error), 'process');
        if (this.#config.retryOnError) await pause(clock, RETRY_FIRST_MS * 2 ** failures++, signal);
      }
      if (clock.now() - sliceStart < SLICE_MS) continue;
      await new Promise((resolve) => realTimers.setImmediate(resolve));
      sliceStart = clock.now();
    }
  }

  #popOne(): (signal: AbortSignal) => Promise<unknown> {
    const { queue, process, processBatch, retryOnError } = this.#config;
    const single: PopProcess<Popped> = retryOnError
      ? (popped, isInInitialList) => requeueing(() => process(popped, isInInitialList))
      : process;
    if (!processBatch || !hasBatches(queue)) return (signal) => queue.pop(single, { signal });
    return (signal) => queue.popBatch(processBatch, single, { signal });
  }
}

function hasBatches<Item, Popped>(
  queue: Queue<Item, Popped>,
): queue is Queue<Item, Popped> & {
  popBatch(batch: PopProcess<Popped>, single: PopProcess<Popped>, options: SignalOptions): Promise<Popped>;
} {
  return 'popBatch' in queue;
}

/** Puts a value back into the queue if the processing fails. */
async function requeueing(process: () => unknown): Promise<void> {
  try {
    await process();
  } catch (error) {
    throw error instanceof ErrRequeue ? error : new ErrRequeue(error);
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_QUEUE_CLOSED';
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let unlisten = (): void => undefined;
    const done = (): void => {
      cancel();
      unlisten();
      resolve();
    };
    const cancel = clock.schedule(Math.min(delayMs, RETRY_LAST_MS), done);
    unlisten = onAbort(signal, done);
  });
}
