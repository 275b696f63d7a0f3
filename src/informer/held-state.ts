/**
 * A state that stays readable although no caller holds an entry: a reference on the row keeps the bytes where they are. A
 * retained entry copies the bytes when the row ends, which costs more than the notification that ends it.
 */
import { assert } from '../base/errors.ts';
import type { Borrowed } from '../replica/store/cached-object.ts';
import { Entry } from '../replica/store/entry.ts';
import type { EntryRows } from '../replica/store/entry.ts';

/** @internal */
export class HeldState<T> {
  readonly #table: EntryRows;
  readonly #row: number;

  /** @param entry readable now */
  constructor(entry: Borrowed<T>) {
    assert(entry instanceof Entry, 'a state that an informer delivered');
    this.#table = entry.owner.table;
    this.#row = entry.row;
    this.#table.addReference(this.#row);
  }

  /** Calls `read` with the state, which is borrowed for the time of the call. */
  read<R>(read: (entry: Borrowed<T>) => R): R {
    const entry = this.#table.open(this.#row) as Entry<T>;
    this.#table.borrow(entry);
    try {
      return read(entry);
    } finally {
      this.#table.endBorrow(entry, 'the holder of the state');
    }
  }

  /** Frees the bytes, unless the cache or another holder needs them. Call it once. */
  release(): void {
    this.#table.dropReference(this.#row);
  }
}
