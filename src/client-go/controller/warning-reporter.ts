/**
 * Reports errors of the lower layers to the handler, or to `process.emitWarning` if there is no handler, at most once a
 * second for each code. It drops no error silently, unlike client-go's process loop.
 */
import type { Clock } from '../../base/clock.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { LimitedWarnings } from '../../base/limited-warnings.ts';

/** The operation that failed. */
export type ErrorOrigin = 'list' | 'watch' | 'decode' | 'store' | 'resync' | 'transform' | 'process';

/** An error that it throws, or rejects with, becomes a warning. */
export type ReflectorErrorHandler = (error: KubeloomError, during: ErrorOrigin) => unknown;

export class WarningReporter {
  readonly #name: string;
  readonly #handler: ReflectorErrorHandler | undefined;
  readonly #warnings: LimitedWarnings;

  constructor(name: string, handler: ReflectorErrorHandler | undefined, clock: Clock) {
    this.#name = name;
    this.#handler = handler;
    this.#warnings = new LimitedWarnings(clock);
  }

  report(error: KubeloomError, during: ErrorOrigin): void {
    if (this.#handler) void this.#handle(this.#handler, error, during);
    else this.#warn(error);
  }

  async #handle(handler: ReflectorErrorHandler, error: KubeloomError, during: ErrorOrigin): Promise<void> {
    try {
      await handler(error, during);
    } catch (cause) {
      const message = `the error handler threw: ${messageOf(cause)}`;
      this.#warn(new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', message, { cause }));
    }
  }

  #warn(error: KubeloomError): void {
    this.#warnings.warn(error, error.code, `${this.#name}: ${error.message}`);
  }
}
