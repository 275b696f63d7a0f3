/**
 * The log of a controller. Every line about a reconciliation carries the id of the reconciliation, as in
 * controller-runtime: lines of the manager, and lines that the reconcile function writes to the log of the context.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { KubeloomError, firstLineOf } from '../base/errors.ts';
import { loggerWith } from '../base/logger.ts';
import type { Logger } from '../base/logger.ts';
import { escapeControls } from '../base/printable.ts';

/** @internal A reconciliation in progress. */
export interface LoggedReconciliation {
  readonly reconcileID: string;
  /** The log of the context. */
  readonly log: Logger;
  readonly startMs: number;
}

/** @internal */
export class ReconcileLog {
  readonly #controller: string;
  readonly #log: Logger | undefined;
  readonly #clock: Clock;
  readonly #inProgress: Map<string, LoggedReconciliation> = new Map();

  /** @param log undefined: the manager writes no line, and the log of a context is the console */
  constructor(controller: string, log: Logger | undefined, clock: Clock) {
    this.#controller = controller;
    this.#log = log;
    this.#clock = clock;
  }

  get keys(): readonly string[] {
    return [...this.#inProgress.keys()];
  }

  /** Writes a line about the controller. */
  controller(message: string, fields: object = {}): void {
    if (this.#log) loggerWith(this.#log, { controller: this.#controller }).info(fields, message);
  }

  begin(key: string): LoggedReconciliation {
    const reconcileID = randomUUID();
    const log = loggerWith(this.#log ?? console, { controller: this.#controller, key, reconcileID });
    const begun = { reconcileID, log, startMs: this.#clock.now() };
    this.#inProgress.set(key, begun);
    return begun;
  }

  succeeded({ log, startMs }: LoggedReconciliation): void {
    if (this.#log) log.debug({ durationMs: Math.round(this.#clock.now() - startMs) }, 'reconciled');
  }

  /** Writes the line of a failure. @param retries number of earlier failures of the key */
  failed(error: unknown, key: string, retries: number): void {
    if (!this.#log) return;
    const log =
      this.#inProgress.get(key)?.log ?? loggerWith(this.#log, { controller: this.#controller, key });
    const code = error instanceof KubeloomError ? { code: error.code } : {};
    log.error({ retries, ...code, err: error }, `reconciling failed: ${escapeControls(firstLineOf(error))}`);
  }

  /** Ends the log of a key's reconciliation. */
  end(key: string): void {
    this.#inProgress.delete(key);
  }
}
