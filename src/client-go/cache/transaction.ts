/**
 * Several writes at once: no reader sees only some of them. A write that fails (no key, a transform or an index
 * function that throws) is left out and reported; the others are done.
 */
import { KubeloomError } from '../../base/errors.ts';

export interface Transaction<Item> {
  readonly type: 'add' | 'update' | 'delete';
  readonly object: Item;
}

/** A transaction whose key has been computed. */
export interface KeyedTransaction<Item> extends Transaction<Item> {
  readonly key: string;
}

export interface TransactionStore<Item> {
  /** @returns which writes were left out and why; undefined when all were done */
  transaction(transactions: readonly Transaction<Item>[]): TransactionError | undefined;
}

/** Some writes of a transaction were left out. `cause` is the first of `errors`. */
export class TransactionError extends KubeloomError {
  override readonly name: string = 'TransactionError';
  /** Positions of the writes that were done. */
  readonly successfulIndices: readonly number[];
  readonly totalTransactions: number;
  /** Errors of the writes that were left out, in order. */
  readonly errors: readonly Error[];

  constructor(successfulIndices: readonly number[], totalTransactions: number, errors: readonly Error[]) {
    const failed = `${totalTransactions - successfulIndices.length}/${totalTransactions}`;
    const reasons = [...new Set(errors.map(({ message }) => message))].join('; ');
    super('ERR_KUBELOOM_TRANSACTION', `failed to execute (${failed}) transactions: ${reasons}`, {
      cause: errors[0],
    });
    this.successfulIndices = successfulIndices;
    this.totalTransactions = totalTransactions;
    this.errors = errors;
  }
}
