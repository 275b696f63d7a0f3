/**
 * Reports the errors of one informer. Every report carries the informer's name and goes to the error sink. Errors of LIST
 * and WATCH also go to the watch error handler.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError, firstLineOf } from '../base/errors.ts';
import type { HandlerBacklog } from '../replica/deliver/handler.ts';
import { refusedWrite } from './mutation/mutation-error.ts';
import type { MutationError } from './mutation/mutation-error.ts';
import { escapeControls } from '../base/printable.ts';

/** Function that is called for every failed LIST or WATCH. The informer retries by itself. Errors it throws are reported. */
export type WatchErrorHandler = (error: KubeloomError) => unknown;

type MutationListener = (mutation: MutationError) => unknown;

export class ErrorReporter {
  readonly #informer: string;
  readonly #sink: ErrorSink;
  /** Handler that was set last before start. */
  watchErrorHandler: WatchErrorHandler | undefined;
  /** Last error of LIST, WATCH or decoding. */
  lastError: KubeloomError | undefined;
  /** Called after every change of `lastError`. */
  onLastError: () => void = () => {};
  readonly #onMutation: MutationListener | undefined;

  constructor(
    informer: string,
    listener: ErrorListener | undefined,
    clock: Clock,
    onMutation?: MutationListener,
  ) {
    this.#informer = informer;
    this.#onMutation = onMutation;
    this.#sink = new ErrorSink(listener, clock);
  }

  /** Reports an error of the informer as a whole. */
  readonly report = (error: KubeloomError): void => {
    this.#sink.report(error, { informer: this.#informer });
  };

  readonly object = (error: KubeloomError, key: string): void => {
    this.#sink.report(error, { informer: this.#informer, key });
  };

  /** Reports that an event handler threw or its promise rejected. @param registeredAt '' when it is unknown */
  readonly handler = (thrown: unknown, key: string, name: string, registeredAt: string): void => {
    const by = { handler: name, ...(registeredAt ? { registeredAt } : {}) };
    const mutation = refusedWrite(thrown, key);
    if (mutation) {
      this.mutation(mutation, by);
      return;
    }
    const message = `event handler ${name} threw for ${key}: ${firstLineOf(thrown)}`;
    const error = new KubeloomError('ERR_KUBELOOM_HANDLER', message, { cause: thrown });
    this.#sink.report(error, { informer: this.#informer, key, ...by });
  };

  /** Reports a write to a shared object. */
  readonly mutation = (
    error: MutationError,
    by: Pick<ErrorContext, 'handler' | 'registeredAt'> = {},
  ): void => {
    if (this.#onMutation) {
      void this.#callListener('onMutation', this.#onMutation, error);
      return;
    }
    const { key } = error;
    this.#sink.report(error, { informer: this.#informer, key, ...by });
  };

  /** Reports that a listener of the user threw. */
  readonly listener = (what: string, cause: unknown): void => {
    const message = `${what} threw: ${String(cause)}`;
    this.report(new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', message, { cause }));
  };

  /** Reports a slow handler. @param callMs duration of a long call; undefined when the oldest notification is too old */
  readonly slowHandler = (name: string, callMs: number | undefined, backlog: HandlerBacklog): void => {
    const { notifications, bytes, ageMs } = backlog;
    const waiting = `${notifications} notifications (${bytes} bytes, the oldest for ${Math.round(ageMs)} ms)`;
    const message =
      callMs === undefined
        ? `${waiting} wait for event handler ${name}, which is too slow or in a call that does not return: ` +
          'put keys into a work queue and process them outside the handler'
        : `event handler ${name} took ${Math.round(callMs)} ms for one call while ${waiting} wait for it: ` +
          'put keys into a work queue and process them outside the handler';
    this.report(new KubeloomError('ERR_KUBELOOM_SLOW_HANDLER', message));
  };

  /** Reports a failed LIST or WATCH, or a response that cannot be decoded. */
  readonly watch = (error: KubeloomError): void => {
    this.lastError = error;
    this.onLastError();
    this.report(error);
    if (this.watchErrorHandler)
      void this.#callListener('the watch error handler', this.watchErrorHandler, error);
  };

  /** Calls a listener. An error of the listener must not stop the caller or end the process. */
  async #callListener<E>(what: string, listener: (error: E) => unknown, error: E): Promise<void> {
    try {
      await listener(error);
    } catch (cause) {
      this.listener(what, cause);
    }
  }
}

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

/** Function that receives errors. An error that it throws, or rejects with, becomes a process warning. */
export type ErrorListener = (error: KubeloomError, context: ErrorContext) => unknown;

const WARNING_INTERVAL_MS = 1000;

export class ErrorSink {
  readonly #listener: ErrorListener | undefined;
  readonly #clock: Clock;
  readonly #lastWarnings: Map<string, { atMs: number; suppressed: number }> = new Map();

  constructor(listener: ErrorListener | undefined, clock: Clock) {
    this.#listener = listener;
    this.#clock = clock;
  }

  report(error: KubeloomError, context: ErrorContext): void {
    if (!this.#listener) {
      this.#warn(error, context);
      return;
    }
    void this.#call(this.#listener, error, context);
  }

  async #call(listener: ErrorListener, error: KubeloomError, context: ErrorContext): Promise<void> {
    try {
      await listener(error, context);
    } catch (cause) {
      this.#warn(
        new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', `onError threw: ${String(cause)}`, { cause }),
        context,
      );
    }
  }

  #warn(error: KubeloomError, context: ErrorContext): void {
    const { code } = error;
    const now = this.#clock.now();
    const last = this.#lastWarnings.get(code);
    if (last && now - last.atMs < WARNING_INTERVAL_MS) {
      last.suppressed++;
      return;
    }
    this.#lastWarnings.set(code, { atMs: now, suppressed: 0 });
    const repeated = last && last.suppressed > 0 ? ` (and ${last.suppressed} more like it)` : '';
    const { informer, key = '' } = context;
    // Most messages already name the object, and some name the informer.
    const about = [informer, key].filter((name) => !error.message.includes(name)).join(', ');
    const message = escapeControls(about === '' ? error.message : `${about}: ${error.message}`);
    process.emitWarning(`${message}${repeated}`, { type: 'KubeloomWarning', code, detail: stackOf(error) });
  }
}

/** Returns the stack of the code that threw: the stack of the cause, if it has one. */
function stackOf({ cause, stack = '' }: KubeloomError): string {
  const thrown = cause instanceof Error && cause.stack ? cause.stack : stack;
  return thrown.split('\n').map(escapeControls).join('\n');
}
