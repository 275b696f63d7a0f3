/**
 * The handler that the process loop calls for each change, after the store has it. The loop awaits a promise
 * before the next call. When a handler throws, the other calls are still made.
 */
import { KubeloomError } from '../../base/errors.ts';
import type { MaybeTombstone } from '../queue/delta.ts';

/** Handler of plain objects, as they are in the store. */
export interface ObjectEventHandler<Item> {
  onAdd?(object: Item, isInInitialList: boolean): unknown;
  onUpdate?(oldObject: Item, newObject: Item): unknown;
  onDelete?(object: MaybeTombstone<Item>): unknown;
}

/** All errors of one processing. */
export class ProcessErrors {
  readonly #errors: Error[] = [];

  /** Calls and awaits; keeps the error if it throws. */
  async guard(call: () => unknown): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.keep(error);
    }
  }

  keep(error: unknown): void {
    this.#errors.push(error instanceof Error ? error : new Error(String(error)));
  }

  /** @throws the error if there was one, or an error that contains all of them */
  rethrow(): void {
    const [first, ...others] = this.#errors;
    if (!first) return;
    if (others.length === 0) throw first;
    const reasons = [...new Set(this.#errors.map(({ message }) => message))].join('; ');
    throw new KubeloomError('ERR_KUBELOOM_PROCESS', `${this.#errors.length} errors: ${reasons}`, {
      cause: new AggregateError(this.#errors, reasons),
    });
  }
}
