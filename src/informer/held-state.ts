/**
 * A state that stays readable although no caller holds an entry: a reference on the row keeps the bytes where they are. A
 * retained entry copies the bytes when the row ends, which costs more than the notification that ends it.
 */
import { assert } from '../base/errors.ts';
import type { Borrowed } from '../replica/store/cached-object.ts';
import { Entry } from '../replica/store/entry.ts';
import type { Forgettable, Rereadable } from '../replica/store/decoded-cache.ts';
import type { EntryStorage } from '../replica/store/entry.ts';

/** @internal */
export class HeldState<T> {
  readonly #owner: EntryStorage;
  readonly #row: number;
  readonly #costBytes: number;

  /** @param entry readable now */
  constructor(entry: Borrowed<T>) {
    assert(entry instanceof Entry, 'a state that an informer delivered');
    this.#owner = entry.owner;
    this.#row = entry.row;
    this.#costBytes = entry.owner.reader.costBytesOf(entry);
    this.#owner.table.addReference(this.#row);
  }

  /** Calls `read` with the state, which is borrowed for the time of the call. */
  read<R>(read: (entry: Borrowed<T>) => R): R {
    const { table } = this.#owner;
    const entry = table.open(this.#row) as Entry<T>;
    table.borrow(entry);
    try {
      return read(entry);
    } finally {
      table.endBorrow(entry, 'the holder of the state');
    }
  }

  /** Has the cache of parsed objects decide how long `holder` keeps what was parsed for a callback. */
  rememberBriefly(holder: Forgettable): void {
    this.#owner.decodedCache.rememberBriefly(holder, this.#costBytes);
  }

  /** As `rememberBriefly`, for what may be read again. */
  rememberRead(holder: Rereadable): void {
    this.#owner.decodedCache.rememberRead(holder, this.#costBytes);
  }

  get parsedKiB(): number {
    return this.#owner.decodedCache.parsedKiB;
  }

  /** Frees the bytes, unless the cache or another holder needs them. Call it once. */
  release(): void {
    this.#owner.table.dropReference(this.#row);
  }
}
