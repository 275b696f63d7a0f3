/**
 * What an informer has to say about itself when something goes wrong: every report carries its name, goes to
 * the error sink, and those of LIST and WATCH also to the watch error handler.
 */
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import type { HandlerBacklog } from '../processor/handler.ts';
import { refusedWrite } from '../mutation/mutation-error.ts';
import type { MutationError } from '../mutation/mutation-error.ts';
import { ErrorSink } from './errors.ts';
import type { ErrorListener } from './errors.ts';

/** Called for every failed LIST or WATCH; the informer goes on by itself. What it throws, or rejects with, is reported. */
export type WatchErrorHandler = (error: KubeloomError) => unknown;

type MutationListener = (mutation: MutationError) => unknown;

export class Reports {
  readonly #informer: string;
  readonly #sink: ErrorSink;
  /** The last one that was set before start. */
  watchErrorHandler: WatchErrorHandler | undefined;
  /** Of LIST, WATCH or decoding. */
  lastError: KubeloomError | undefined;
  /** Told of every `lastError`. */
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

  /** About the informer as a whole. */
  readonly report = (error: KubeloomError): void => {
    this.#sink.report(error, { informer: this.#informer });
  };

  readonly object = (error: KubeloomError, key: string): void => {
    this.#sink.report(error, { informer: this.#informer, key });
  };

  /** @param handler where it was registered, '' when nobody knows */
  readonly handler = (thrown: unknown, key: string, handler: string): void => {
    const mutation = refusedWrite(thrown, key);
    if (mutation) {
      this.mutation(mutation, handler);
      return;
    }
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.#sink.report(error, {
      informer: this.#informer,
      ...(key ? { key } : {}),
      ...(handler ? { handler } : {}),
    });
  };

  /** Somebody wrote to what is shared. */
  readonly mutation = (error: MutationError, handler = ''): void => {
    if (this.#onMutation) {
      void this.#callListener('onMutation', this.#onMutation, error);
      return;
    }
    const { key } = error;
    this.#sink.report(error, { informer: this.#informer, key, ...(handler ? { handler } : {}) });
  };

  /** Something of the user's that was told of an event threw. */
  readonly listener = (what: string, cause: unknown): void => {
    const message = `${what} threw: ${String(cause)}`;
    this.report(new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', message, { cause }));
  };

  /** @param callMs of a call that took long; undefined when it is about what waits, whatever the handler does */
  readonly slowHandler = (name: string, callMs: number | undefined, backlog: HandlerBacklog): void => {
    const { notifications, bytes, ageMs } = backlog;
    const waiting = `${notifications} notifications (${bytes} bytes, the oldest for ${Math.round(ageMs)} ms)`;
    const message =
      callMs === undefined
        ? `${waiting} wait for event handler ${name}, which does not keep up or is in a call that does not end: ` +
          'queue keys and work elsewhere'
        : `event handler ${name} took ${Math.round(callMs)} ms for one call while ${waiting} wait for it: ` +
          'queue keys and work elsewhere';
    this.report(new KubeloomError('ERR_KUBELOOM_SLOW_HANDLER', message));
  };

  /** A failed LIST or WATCH, or bytes of one that cannot be decoded. */
  readonly watch = (error: KubeloomError): void => {
    this.lastError = error;
    this.onLastError();
    this.report(error);
    if (this.watchErrorHandler)
      void this.#callListener('the watch error handler', this.watchErrorHandler, error);
  };

  /** What it throws must not stop the messages that brought its error, nor end the process. */
  async #callListener<E>(what: string, listener: (error: E) => unknown, error: E): Promise<void> {
    try {
      await listener(error);
    } catch (cause) {
      this.listener(what, cause);
    }
  }
}
