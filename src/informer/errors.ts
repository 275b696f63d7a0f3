/**
 * Where an informer's errors go: to `onError`, to the watch error handler for LIST and WATCH, and if nobody
 * listens to `process.emitWarning` with the code, at most one a second for each code.
 */
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';

export interface ErrorContext {
  /** Which informer: `pods (all namespaces)`. */
  readonly informer: string;
  /** Where the handler was registered, when a handler threw. */
  readonly handler?: string;
  /** The object, when it is about one. */
  readonly key?: string;
}

/** What it throws, or rejects with, becomes a warning. */
export type ErrorListener = (error: Error, context: ErrorContext) => unknown;

const WARNING_INTERVAL_MS = 1000;

export class ErrorSink {
  readonly #listener: ErrorListener | undefined;
  readonly #clock: Clock;
  readonly #lastWarnings: Map<string, { atMs: number; suppressed: number }> = new Map();

  constructor(listener: ErrorListener | undefined, clock: Clock) {
    this.#listener = listener;
    this.#clock = clock;
  }

  report(error: Error, context: ErrorContext): void {
    if (!this.#listener) {
      this.#warn(error, context);
      return;
    }
    void this.#tell(this.#listener, error, context);
  }

  async #tell(listener: ErrorListener, error: Error, context: ErrorContext): Promise<void> {
    try {
      await listener(error, context);
    } catch (cause) {
      this.#warn(
        new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', `onError threw: ${String(cause)}`, { cause }),
        context,
      );
    }
  }

  #warn(error: Error, context: ErrorContext): void {
    const code = error instanceof KubeloomError ? error.code : 'ERR_KUBELOOM_HANDLER';
    const now = this.#clock.now();
    const last = this.#lastWarnings.get(code);
    if (last && now - last.atMs < WARNING_INTERVAL_MS) {
      last.suppressed++;
      return;
    }
    this.#lastWarnings.set(code, { atMs: now, suppressed: 0 });
    const repeated = last && last.suppressed > 0 ? ` (and ${last.suppressed} more like it)` : '';
    const about = context.key ? `${context.informer}, ${context.key}` : context.informer;
    process.emitWarning(`${about}: ${error.message}${repeated}`, { type: 'KubeloomWarning', code });
  }
}
