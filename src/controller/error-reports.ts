/**
 * Where the errors of the lower layers go: to the handler, and without one to `process.emitWarning`, at most
 * one a second for each code. None is dropped without a word, as client-go's process loop does.
 */
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';

/** What went on when it happened. */
export type ErrorOrigin = 'list' | 'watch' | 'decode' | 'store' | 'resync' | 'transform' | 'process';

/** What it throws, or rejects with, becomes a warning. */
export type ReflectorErrorHandler = (error: KubeloomError, during: ErrorOrigin) => unknown;

const WARNING_INTERVAL_MS = 1000;

export class ErrorReports {
  readonly #name: string;
  readonly #handler: ReflectorErrorHandler | undefined;
  readonly #clock: Clock;
  readonly #warnedAt: Map<string, number> = new Map();

  constructor(name: string, handler: ReflectorErrorHandler | undefined, clock: Clock) {
    this.#name = name;
    this.#handler = handler;
    this.#clock = clock;
  }

  report(error: KubeloomError, during: ErrorOrigin): void {
    if (this.#handler) void this.#tell(this.#handler, error, during);
    else this.#warn(error);
  }

  async #tell(handler: ReflectorErrorHandler, error: KubeloomError, during: ErrorOrigin): Promise<void> {
    try {
      await handler(error, during);
    } catch (cause) {
      this.#warn(
        new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', `the error handler threw: ${String(cause)}`, {
          cause,
        }),
      );
    }
  }

  #warn(error: KubeloomError): void {
    const now = this.#clock.now();
    const last = this.#warnedAt.get(error.code);
    if (last !== undefined && now - last < WARNING_INTERVAL_MS) return;
    this.#warnedAt.set(error.code, now);
    process.emitWarning(`${this.#name}: ${error.message}`, { type: 'KubeloomWarning', code: error.code });
  }
}

/** As a coded error that says what the failing function was doing. */
export function wrapped(code: string, what: string, cause: unknown): KubeloomError {
  if (cause instanceof KubeloomError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new KubeloomError(code, `${what}: ${reason}`, { cause });
}
