/**
 * The log of a controller. Every line about a reconciliation carries the id of the reconciliation, as in
 * controller-runtime: lines of the manager, and lines that the reconcile function writes to the log of the context.
 */
import type { Clock } from '../base/clock.ts';
import { KubeloomError, firstLineOf } from '../base/errors.ts';
import { loggerWith } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { escapeControls } from '../base/printable.ts';

/** A reconciliation in progress; reading `log` makes it. */
interface Logged {
  readonly log: Logger;
}

/** @internal */
export class ReconcileLog {
  readonly #controller: string;
  readonly #log: Logger | undefined;
  readonly #clock: Clock;

  /** @param log undefined: the manager writes no line, and the log of a context is the console */
  constructor(controller: string, log: Logger | undefined, clock: Clock) {
    this.#controller = controller;
    this.#log = log;
    this.#clock = clock;
  }

  /** Writes a line about the controller. */
  controller(message: string, fields: object = {}): void {
    if (this.#log) loggerWith(this.#log, { controller: this.#controller }).info(fields, message);
  }

  /** The start of a reconciliation that begins now; 0 without a log. */
  get startMs(): number {
    return this.#log ? this.#clock.now() : 0;
  }

  /** Returns the log of a reconciliation, for its context. */
  of(key: string, reconcileID: string): Logger {
    return loggerWith(this.#log ?? console, { controller: this.#controller, key, reconcileID });
  }

  succeeded(reconciliation: Logged, startMs: number): void {
    if (!this.#log) return;
    reconciliation.log.debug({ durationMs: Math.round(this.#clock.now() - startMs) }, 'reconciled');
  }

  /**
   * Writes the line of a failure.
   *
   * @param reconciliation undefined if the key failed before its reconciliation
   * @param retries number of earlier failures of the key
   */
  failed(error: unknown, key: string, retries: number, reconciliation: Logged | undefined): void {
    if (!this.#log) return;
    const log = reconciliation?.log ?? loggerWith(this.#log, { controller: this.#controller, key });
    const code = error instanceof KubeloomError ? { code: error.code } : {};
    log.error({ retries, ...code, err: error }, `reconciling failed: ${escapeControls(firstLineOf(error))}`);
  }
}
