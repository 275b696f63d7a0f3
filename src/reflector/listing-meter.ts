/** How far a list has come: counts what is read of it and tells that now and then. */
import type { Clock } from '../clock.ts';
import type { ListingProgress } from '../threads/protocol.ts';

export const TOLD_EVERY_MS = 100;

export class ListingMeter {
  readonly #clock: Clock;
  readonly #tell: (progress: ListingProgress) => void;
  #items = 0;
  #bytes = 0;
  #expectedItems: number | undefined;
  #toldAt = -Infinity;

  constructor(clock: Clock, tell: (progress: ListingProgress) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** A new list. */
  begin(): void {
    this.#items = 0;
    this.#bytes = 0;
    this.#expectedItems = undefined;
    this.#toldAt = this.#clock.now();
  }

  item(): void {
    this.#items++;
  }

  read(bytes: number): void {
    this.#bytes += bytes;
    if (this.#clock.now() - this.#toldAt >= TOLD_EVERY_MS) this.#tellNow();
  }

  /** @param remainingItems how many the server says are to come on further pages */
  page(remainingItems: number | undefined): void {
    if (remainingItems !== undefined) this.#expectedItems = this.#items + remainingItems;
  }

  /** The list is complete. */
  end(): void {
    if (this.#expectedItems !== undefined) this.#expectedItems = this.#items;
    this.#tellNow();
  }

  #tellNow(): void {
    this.#toldAt = this.#clock.now();
    const expected = this.#expectedItems === undefined ? {} : { expectedItems: this.#expectedItems };
    this.#tell({ items: this.#items, bytes: this.#bytes, ...expected });
  }
}
