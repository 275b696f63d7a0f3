/** The handlers of an informer: registration, removal, and shutdown. */
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import {
  callback,
  flag,
  nearest,
  number,
  invalidOption,
  signal,
  text,
  checkOptions,
} from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import type {
  HandlerRegistration,
  ResourceEventHandler,
  HandlerBacklog,
} from '../replica/deliver/handler.ts';
import { Histogram } from '../metrics/histogram.ts';
import type { HistogramData } from '../metrics/histogram.ts';
import type { MetricLabels } from '../metrics/metrics-table.ts';
import { ProcessorListener } from '../replica/deliver/processor-listener.ts';
import type { CacheWriter, ListenerOptions } from '../replica/deliver/processor-listener.ts';
import { ResyncTimer } from '../replica/deliver/resync.ts';
import type { ResolvedInformerOptions } from './informer-options.ts';
import type { SharedProcessor } from '../replica/deliver/processor-listener.ts';
import type { Replica } from '../replica/store/replica.ts';
import type { Drain } from '../replica/merge/drain.ts';
import { abortable } from '../base/on-abort.ts';
import { SettableDoneChecker } from './wait-for.ts';
import type { HandlerHealth } from './health.ts';
import { nameForHandler } from './handler-adaptors.ts';
import type { InformerActivity } from './informer-activity.ts';
import type { ErrorReporter } from './error-reporter.ts';

/** Options of a handler. */
export interface HandlerOptions {
  /** Name in messages and done checkers. Default: the name of the handler's class, or the names of the functions. */
  readonly name?: string;
  /** Resync period in ms. Default: the informer's. 0: never. */
  readonly resyncPeriodMs?: number;
  /** Measures the duration of each call, including the promise, for metrics and `stats()`. Default: false. */
  readonly measureDuration?: boolean;
}

/** Options of the removal of a handler. */
export interface RemovalOptions {
  /** Delivers pending notifications first. Default: drops them. */
  readonly drain?: boolean;
}

/** Options of a shutdown. */
export interface ShutDownOptions extends RemovalOptions {
  /** Ends the wait; the shutdown itself continues. */
  readonly signal?: AbortSignal;
}

const HANDLER_CHECKS: OptionChecks<HandlerOptions> = {
  name: text,
  resyncPeriodMs: number(0),
  measureDuration: flag,
};
const REMOVAL_CHECKS: OptionChecks<RemovalOptions> = { drain: flag };
export const SHUT_DOWN_CHECKS: OptionChecks<ShutDownOptions> = { ...REMOVAL_CHECKS, signal };

/** @internal The thread that calls the handlers. */
export interface HandlerThread {
  readonly drain: Drain;
  /** Requests a turn of the drain. */
  requestRun(): void;
}

/** @internal */
export interface HandlersOptions {
  readonly replica: Replica;
  readonly processor: SharedProcessor;
  readonly resolved: ResolvedInformerOptions;
  readonly clock: Clock;
  readonly reports: ErrorReporter;
  readonly activity: InformerActivity;
  /** Name of the informer's done checker. */
  readonly syncName: string;
  /** Returns the labels of the informer in metrics; they are final when the informer runs. */
  readonly metricLabels: () => MetricLabels;
  /** Called when a registration may be synced. */
  readonly onProgress: () => void;
}

/** Figures of a handler at a point in time. */
export interface HandlerStats extends HandlerBacklog {
  /** Name of the handler. A later handler with a name in use gets a number: `slow #2`. */
  readonly name: string;
  /** Calls so far, including the call in progress. */
  readonly calls: number;
  /** Calls that threw or rejected. */
  readonly errors: number;
  /** Notifications merged into other notifications. */
  readonly coalesced: number;
  /** Durations of the calls in seconds; undefined without the option `measureDuration`. */
  readonly durations: HistogramData | undefined;
}

/** Seconds: client-go's bounds for requests and work, and smaller bounds: most handlers only add a key to a queue. */
const DURATION_BOUNDS: readonly number[] = [
  0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025,
  0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** Number of kubeloom's own frames above the caller's in the stack of a registration. */
const OWN_FRAMES = 4;

/** @internal */
export class Handlers {
  readonly #options: HandlersOptions;
  /** Handlers whose last call is not over, including removed handlers: stopping waits for them (contract C8). */
  readonly #listeners: Map<Registration, ProcessorListener> = new Map();
  readonly #resync: ResyncTimer;
  /** Undefined before the informer runs; until then there are no notifications to deliver. */
  #threads: HandlerThread | undefined;
  /** Coalesced notifications of ended handlers. */
  #coalescedBefore = 0;

  constructor(options: HandlersOptions) {
    this.#options = options;
    const { processor, replica, reports, clock, resolved } = options;
    this.#resync = new ResyncTimer({
      clock,
      periodMs: resolved.resyncPeriodMs,
      onDue: (due) => {
        processor.resync(replica, due);
        this.#threads?.requestRun();
      },
      onRaised: (message) =>
        reports.report(new KubeloomError('ERR_KUBELOOM_RESYNC_PERIOD', message), 'handler'),
    });
  }

  /** @param writer the cache of another thread, which receives no resync, but the unchanged objects of every relist */
  add(
    handler: ResourceEventHandler<never>,
    options: HandlerOptions,
    writer?: CacheWriter,
  ): HandlerRegistration {
    checkHandler(handler, options);
    const { replica, processor, syncName } = this.#options;
    const name = options.name ?? nameForHandler(handler);
    const checker = new SettableDoneChecker(`${syncName} + event handler ${name}`, () => {
      if (!listener.isOpen) return 'the handler was removed';
      if (!replica.hasSynced) return 'the informer has not synced';
      return `${registration.backlog.notifications} notifications are pending`;
    });
    const label = this.#uniqueName(name);
    const durations = options.measureDuration ? this.#newDurations(label) : undefined;
    const listener = this.#newListener({ handler, writer, durations }, name, checker);
    const registration = new Registration({ name, label, durations }, checker, listener);
    this.#listeners.set(registration, listener);
    void listener.ended.then(() => {
      this.#listeners.delete(registration);
      this.#threads?.drain.remove(listener);
      this.#coalescedBefore += listener.coalesced;
    });
    if (!writer) this.#resync.add(listener, options.resyncPeriodMs);
    processor.add(listener, replica);
    this.#threads?.drain.add(listener);
    this.#threads?.requestRun();
    return registration;
  }

  start(threads: HandlerThread): void {
    this.#threads = threads;
    for (const listener of this.#listeners.values()) threads.drain.add(listener);
    threads.requestRun();
  }

  /**
   * Removes a handler. Ignores a registration of another informer, or a registration that ended. A second removal
   * without `drain` drops the pending notifications.
   */
  remove(registration: HandlerRegistration, options: RemovalOptions): void {
    checkOptions('options of a removal', options, REMOVAL_CHECKS);
    const listener = this.#listenerOf(registration);
    if (listener) this.#end(listener, options.drain ?? false);
  }

  async shutDown(registration: HandlerRegistration, options: ShutDownOptions): Promise<void> {
    checkOptions('options of a shutdown', options, SHUT_DOWN_CHECKS);
    const { drain = false, signal } = options;
    this.remove(registration, { drain });
    const listener = this.#listenerOf(registration);
    if (!listener) return;
    if (listener.isInsideCall) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OWN_CALL',
        `event handler ${registration.name} is removed, but a call of the handler cannot wait for its own end: ` +
          'inside a handler use removeEventHandler()',
      );
    }
    await abortable(listener.ended, signal);
  }

  startResync(): void {
    this.#resync.start();
  }

  /** Removes all handlers; resolves after the last call. A second call without `drain` drops pending notifications. */
  async close(drain: boolean): Promise<void> {
    this.#resync.stop();
    const listeners = [...this.#listeners.values()];
    for (const listener of listeners) this.#end(listener, drain);
    await Promise.all(listeners.map(({ ended }) => ended));
  }

  /** Names of the handlers with pending notifications or a call in progress. */
  get busyNames(): readonly string[] {
    return [...this.#listeners].filter(([, listener]) => !listener.isIdle).map(([{ name }]) => name);
  }

  /** Whether the handler has no pending notification, list or call. */
  isIdle(registration: HandlerRegistration): boolean {
    return this.#listeners.get(registration as Registration)?.isIdle ?? true;
  }

  get backlogs(): readonly HandlerHealth[] {
    return Array.from(this.#listeners.keys(), ({ name, backlog }) => ({ name, ...backlog }));
  }

  get stats(): readonly HandlerStats[] {
    return Object.freeze(Array.from(this.#listeners.keys(), (registration) => registration.stats));
  }

  get coalesced(): number {
    let sum = this.#coalescedBefore;
    for (const { coalesced } of this.#listeners.values()) sum += coalesced;
    return sum;
  }

  get names(): readonly string[] {
    return Array.from(this.#listeners.keys(), ({ name }) => name);
  }

  #listenerOf(registration: HandlerRegistration): ProcessorListener | undefined {
    if (!(registration instanceof Registration)) throw wrongRegistration();
    return this.#listeners.get(registration);
  }

  #uniqueName(given: string): string {
    const taken = new Set(Array.from(this.#listeners.keys(), ({ label }) => label));
    let name = given;
    for (let number = 2; taken.has(name); number++) name = `${given} #${number}`;
    return name;
  }

  #newDurations(handler: string): Histogram {
    const labels = (): MetricLabels => ({ ...this.#options.metricLabels(), handler });
    return new Histogram('kubeloom_handler_duration_seconds', labels, DURATION_BOUNDS);
  }

  #newListener(
    given: Pick<ListenerOptions, 'handler' | 'writer' | 'durations'>,
    name: string,
    checker: SettableDoneChecker,
  ): ProcessorListener {
    const { resolved, clock, reports, activity, onProgress } = this.#options;
    const isStrict = resolved.retainChecks === 'strict';
    const listener = new ProcessorListener({
      ...given,
      origin: () => ({ ...activity.labels, handler: name }),
      table: this.#options.replica.table,
      registeredAt: isStrict ? registrationStack(OWN_FRAMES) : '',
      clock,
      slowLimits: resolved.slowHandler,
      onError: (error, key, registeredAt) => reports.handler(error, key, name, registeredAt),
      onSlow: (callMs, isBlocking) => {
        reports.slowHandler(name, callMs, isBlocking, listener.backlog);
        activity.slowHandler(name, callMs, listener.backlog);
      },
      onReady: () => {
        this.#threads?.drain.resume(listener);
        this.#threads?.requestRun();
      },
      onPressure: (bytes, backlogBytesMax) => {
        const error = coalescedError(name, bytes, backlogBytesMax, listener.backlog);
        reports.report(error, 'handler');
        activity.backlog(name, error.code, listener.backlog);
      },
      onSynced: () => {
        checker.finish();
        onProgress();
      },
    });
    return listener;
  }

  #end(listener: ProcessorListener, drain: boolean): void {
    this.#options.processor.remove(listener, drain);
    this.#resync.remove(listener);
    this.#threads?.requestRun();
  }
}

const CALLBACKS: readonly (keyof ResourceEventHandler<unknown>)[] = ['onAdd', 'onUpdate', 'onDelete'];

/** Checks a handler. @throws ERR_KUBELOOM_OPTION if there is no callback, or a callback is not a function */
export function checkHandler(handler: unknown, options: HandlerOptions): void {
  const expected = 'an object with onAdd, onUpdate or onDelete';
  if (typeof handler !== 'object' || handler === null) invalidOption('a handler', handler, expected);
  const given = CALLBACKS.filter((name) => Reflect.get(handler, name) !== undefined);
  for (const name of given) callback(name, Reflect.get(handler, name));
  if (given.length === 0) {
    const [meant] = Object.keys(handler).flatMap((name) => nearest(name, CALLBACKS) ?? []);
    const advice = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    invalidOption('a handler', handler, expected + advice);
  }
  checkOptions('options of a handler', options, HANDLER_CHECKS);
}

/** Returns the stack of a registration. @param ownFrames number of kubeloom's own frames above the caller's */
export function registrationStack(ownFrames: number): string {
  const lines = new Error('registered').stack?.split('\n') ?? [];
  return lines.slice(1 + ownFrames).join('\n');
}

export function wrongRegistration(): KubeloomError {
  const message = 'a handler is removed by the registration that addEventHandler() returned for it';
  return new KubeloomError('ERR_KUBELOOM_OPTION', message);
}

/** Handle of a registration. An informer accepts only handles that it created. */
class Registration implements HandlerRegistration {
  readonly name: string;
  /** Name in metrics, unique among the handlers of the informer. */
  readonly label: string;
  readonly #durations: Histogram | undefined;
  readonly hasSyncedChecker: SettableDoneChecker;
  readonly #listener: ProcessorListener;

  constructor(
    { name, label, durations }: Pick<Registration, 'name' | 'label'> & { durations: Histogram | undefined },
    hasSyncedChecker: SettableDoneChecker,
    listener: ProcessorListener,
  ) {
    this.name = name;
    this.label = label;
    this.#durations = durations;
    this.hasSyncedChecker = hasSyncedChecker;
    this.#listener = listener;
  }

  hasSynced(): boolean {
    return this.#listener.hasSynced;
  }

  get backlog(): HandlerBacklog {
    return this.#listener.backlog;
  }

  get stats(): HandlerStats {
    const { calls, errors, coalesced } = this.#listener;
    const durations = this.#durations?.data;
    return Object.freeze({ name: this.label, ...this.backlog, calls, errors, coalesced, durations });
  }
}

function coalescedError(
  name: string,
  bytes: number,
  backlogBytesMax: number,
  { notifications, ageMs }: HandlerBacklog,
): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_BACKLOG_COALESCED',
    `event handler ${name} is ${notifications} notifications behind, the oldest for ${Math.round(ageMs)} ms; ` +
      `the backlogs of all handlers hold ${Math.round(bytes)} of ${backlogBytesMax} bytes (backlogBytesMax): until they ` +
      'shrink, several changes of an object are delivered as a single change; put keys into a work queue and process ' +
      'them outside the handler',
  );
}
