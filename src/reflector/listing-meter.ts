/** The progress of a list: counts its items and pages and reports the counts at intervals. */
import type { Clock } from '../base/clock.ts';
import type { ListingProgress } from '../shared/protocol.ts';

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

  /** Starts counting a new list. */
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

  /** @param remainingItems the server's count of the items on further pages */
  page(remainingItems: number | undefined): void {
    if (remainingItems !== undefined) this.#expectedItems = this.#items + remainingItems;
  }

  /** Reports the last counts: the list is complete. */
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
