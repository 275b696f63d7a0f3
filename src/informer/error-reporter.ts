/**
 * Reports the errors of an informer. Every report carries the informer's name and goes to `onError` and to the log, or
 * becomes a process warning with the code if both are absent. Lines and warnings are limited to one a second for each
 * code. Errors of LIST and WATCH also go to the watch error handler.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError, firstLineOf, inspectable, messageOf } from '../base/errors.ts';
import { loggerWith } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { LabelledCounter } from '../metrics/labelled-counter.ts';
import { rememberError } from '../metrics/snapshot.ts';
import { LimitedWarnings } from '../base/limited-warnings.ts';
import type { HandlerBacklog } from '../replica/deliver/handler.ts';
import { refusedWrite } from './mutation/cache-mutation-detector.ts';
import type { MutationError } from './mutation/cache-mutation-detector.ts';

/** Step of an informer in which an error occurred. */
export interface ErrorContext {
  /** Name of the informer: `pods (all namespaces)`. */
  readonly informer: string;
  /** Name of the event handler that threw. */
  readonly handler?: string;
  /** Stack of the call that registered that handler. */
  readonly registeredAt?: string;
  /** Key of the object that the error concerns. */
  readonly key?: string;
}

/** Work of the informer in which an error arose. */
export type ErrorOrigin =
  | 'list'
  | 'watch'
  | 'decode'
  | 'request'
  | 'credentials'
  | 'object'
  | 'handler'
  | 'mutation'
  | 'listener'
  | 'thread'
  | 'lifecycle';

/** Function that receives errors. An error that it throws, or rejects with, becomes a process warning. */
export type ErrorListener = (error: KubeloomError, context: ErrorContext) => unknown;

/**
 * Function that is called for every failed LIST or WATCH. The informer retries by itself. Errors that the function
 * throws are reported.
 */
export type WatchErrorHandler = (error: KubeloomError) => unknown;

type MutationListener = (mutation: MutationError) => unknown;

/** @internal */
export class ErrorReporter {
  readonly #informer: string;
  readonly #onError: ErrorListener | undefined;
  readonly #onMutation: MutationListener | undefined;
  readonly #warnings: LimitedWarnings;
  readonly #log: Logger | undefined;
  /** Handler that was set last before start. */
  watchErrorHandler: WatchErrorHandler | undefined;
  /** Last error of LIST, WATCH or decoding. */
  lastError: KubeloomError | undefined;
  /** Number of errors by code and origin, including errors that no listener or warning showed. */
  readonly counts: LabelledCounter = new LabelledCounter('kubeloom_errors_total');
  /** Called after every change of `lastError`. */
  onLastError: () => void = () => {};

  constructor(
    informer: string,
    onError: ErrorListener | undefined,
    clock: Clock,
    onMutation?: MutationListener,
    log?: Logger,
  ) {
    this.#informer = informer;
    this.#onError = onError;
    this.#warnings = new LimitedWarnings(clock);
    this.#onMutation = onMutation;
    this.#log = log && loggerWith(log, { informer });
  }

  /** Reports an error of the informer as a whole. */
  readonly report = (error: KubeloomError, during: ErrorOrigin): void => this.#send(error, during, {});

  readonly object = (error: KubeloomError, key: string): void => this.#send(error, 'object', { key });

  /** Reports that an event handler threw or rejected. @param registeredAt '' if unknown */
  readonly handler = (fault: unknown, key: string, name: string, registeredAt: string): void => {
    const thrown = inspectable(fault);
    const by = { handler: name, ...(registeredAt ? { registeredAt } : {}) };
    const mutation = refusedWrite(thrown, key);
    if (mutation) {
      this.mutation(mutation, by);
      return;
    }
    const message = `event handler ${name} threw for ${key}: ${firstLineOf(thrown)}`;
    const error = new KubeloomError('ERR_KUBELOOM_HANDLER', message, { cause: thrown });
    this.#send(error, 'handler', { key, ...by });
  };

  /** Reports a write to a shared object. */
  readonly mutation = (
    error: MutationError,
    by: Pick<ErrorContext, 'handler' | 'registeredAt'> = {},
  ): void => {
    if (this.#onMutation) void this.#call('debug.onMutation', this.#onMutation, error);
    else this.#send(error, 'mutation', { key: error.key, ...by });
  };

  /** Reports that a listener of the user threw. */
  readonly listener = (what: string, cause: unknown): void =>
    this.report(listenerError(what, cause), 'listener');

  /** Reports a slow handler. @param callMs duration of a long call; undefined if the oldest notification is too old */
  readonly slowHandler = (
    name: string,
    callMs: number | undefined,
    isBlocking: boolean,
    backlog: HandlerBacklog,
  ): void => {
    const { notifications, bytes, ageMs } = backlog;
    const waiting = `${notifications} notifications (${bytes} bytes, the oldest for ${Math.round(ageMs)} ms)`;
    const what =
      callMs === undefined
        ? `${waiting} wait for event handler ${name}, which is too slow or in a call that does not return`
        : `event handler ${name} took ${Math.round(callMs)} ms for one call while ${waiting} wait for it`;
    if (isBlocking) return this.#blocked(name, callMs ?? 0);
    const message = `${what}: put keys into a work queue and process them outside the handler`;
    this.report(new KubeloomError('ERR_KUBELOOM_SLOW_HANDLER', message), 'handler');
  };

  #blocked(name: string, callMs: number): void {
    const message =
      `event handler ${name} blocked its thread for ${Math.round(callMs)} ms, in which no watch, timer, lease or ` +
      'health check of the thread was served: put keys into a work queue, and compute in a ReconcilerPool of kubeloom/thread';
    this.report(new KubeloomError('ERR_KUBELOOM_SLOW_HANDLER', message), 'handler');
  }

  /** Reports a failed LIST or WATCH, or a response that cannot be decoded. */
  readonly watch = (error: KubeloomError, during: 'list' | 'watch' | 'decode'): void => {
    this.lastError = error;
    this.onLastError();
    this.report(error, during);
    if (this.watchErrorHandler) void this.#call('the watch error handler', this.watchErrorHandler, error);
  };

  /** Calls a listener. An error of the listener must not stop the caller or end the process. */
  async #call<E>(what: string, listener: (error: E) => unknown, error: E): Promise<void> {
    try {
      await listener(error);
    } catch (cause) {
      this.listener(what, cause);
    }
  }

  #send(error: KubeloomError, during: ErrorOrigin, about: Omit<ErrorContext, 'informer'>): void {
    const context = { informer: this.#informer, ...about };
    const { code, message } = error;
    this.counts.increment({ code, during });
    rememberError({ atMs: Date.now(), informer: this.#informer, code, message });
    if (this.#onError) void this.#callOnError(this.#onError, error, context);
    if (this.#log || !this.#onError) this.#warn(error, context, during);
  }

  async #callOnError(listener: ErrorListener, error: KubeloomError, context: ErrorContext): Promise<void> {
    try {
      await listener(error, context);
    } catch (cause) {
      this.#warn(listenerError('onError', cause), context, 'listener');
    }
  }

  /** Writes a line of the log, or emits a process warning. */
  #warn(error: KubeloomError, context: ErrorContext, during: ErrorOrigin): void {
    const { code } = error;
    const log = this.#log;
    if (log) {
      const fields = { ...context, code, during, err: error };
      this.#warnings.limit(code, (repeated) => log.warn(fields, `${error.message}${repeated}`));
      return;
    }
    const { informer, key = '' } = context;
    // Most messages already name the object, and some name the informer.
    const about = [informer, key].filter((name) => !error.message.includes(name)).join(', ');
    this.#warnings.warn(error, error.code, about === '' ? error.message : `${about}: ${error.message}`);
  }
}

function listenerError(what: string, cause: unknown): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', `${what} threw: ${messageOf(cause)}`, { cause });
}
