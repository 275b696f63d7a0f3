/**
 * Several writes at once: no reader sees a part of them. A write that cannot be done (no key, a transform or an
 * index function that throws) is left out and reported; the others are done all the same.
 */
import { KubeloomError } from '../errors.ts';

export interface Transaction<Item> {
  readonly type: 'add' | 'update' | 'delete';
  readonly object: Item;
}

/** A transaction whose key is known already. */
export interface KeyedTransaction<Item> extends Transaction<Item> {
  readonly key: string;
}

export interface TransactionStore<Item> {
  /** @returns what was left out and why; undefined when everything was done */
  transaction(transactions: readonly Transaction<Item>[]): TransactionError | undefined;
}

/** Some writes of a transaction were left out. `cause` is the first of `errors`. */
export class TransactionError extends KubeloomError {
  override readonly name: string = 'TransactionError';
  /** Positions of the writes that were done. */
  readonly successfulIndices: readonly number[];
  readonly totalTransactions: number;
  /** One for each write that was left out, in order. */
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
