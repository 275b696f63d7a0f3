/**
 * Whom the process loop tells of changes: synchronously, after the store has them. A promise is awaited before
 * the next call; what a handler throws keeps nobody from hearing the rest.
 */
import { KubeloomError } from '../errors.ts';
import type { MaybeTombstone } from '../queue/delta.ts';

/** Plain objects, as they are in the store. */
export interface ObjectEventHandler<Item> {
  onAdd?(object: Item, isInInitialList: boolean): unknown;
  onUpdate?(oldObject: Item, newObject: Item): unknown;
  onDelete?(object: MaybeTombstone<Item>): unknown;
}

/** What went wrong in one processing, all of it. */
export class ProcessErrors {
  readonly #errors: Error[] = [];

  /** Calls and awaits; what it throws is kept. */
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

  /** @throws the error if there was one, or one that has all of them */
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
