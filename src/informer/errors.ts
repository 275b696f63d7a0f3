/**
 * Destination of an informer's errors: `onError`. Without a listener it emits a process warning with the code, at most
 * one a second for each code.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import { escapeControls } from '../base/printable.ts';

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
