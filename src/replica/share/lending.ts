/** The threads that read one informer’s cache, on the main thread. */
import type { EntryTable } from '../store/entry-table.ts';
import { EntryFlag } from '../store/entry.ts';
import type { BytesReaders, SharedMemory } from '../store/store-memory.ts';
import type { Lender } from './lender.ts';

/** Figures of one informer's cache in other threads. */
export interface LendingStats {
  readonly threads: number;
  /** States that threads have, and their bytes, summed over the threads. */
  readonly states: number;
  readonly bytes: number;
  /** Threads so far. */
  readonly attached: number;
}

export class Lending implements BytesReaders {
  readonly #table: EntryTable;
  readonly #wake: () => void;
  readonly #lenders: Set<Lender> = new Set();
  #attached = 0;

  /** @param wake requests a turn of the drain: at rest no other one publishes the records of moves */
  constructor(table: EntryTable, wake: () => void) {
    this.#table = table;
    this.#wake = wake;
  }

  add(lender: Lender): void {
    this.#lenders.add(lender);
    this.#attached++;
  }

  remove(lender: Lender): void {
    this.#lenders.delete(lender);
  }

  get stats(): LendingStats {
    const stats = { threads: this.#lenders.size, states: 0, bytes: 0, attached: this.#attached };
    for (const { lentRows, lentBytes } of this.#lenders) {
      stats.states += lentRows;
      stats.bytes += lentBytes;
    }
    return stats;
  }

  /** Called after a round of the drain that merged something. */
  merged(): void {
    for (const lender of this.#lenders) lender.merged();
  }

  mayMove(): boolean {
    for (const { mayMove } of this.#lenders) if (!mayMove) return false;
    return true;
  }

  moved(row: number, former: number): void {
    // Without a thread that has the row, the former one ends here.
    this.#table.addReference(former);
    let isLent = false;
    for (const lender of this.#lenders) isLent = lender.moved(row, former) || isLent;
    if (isLent) this.#wake();
    else this.#table.setFlag(row, EntryFlag.Lent, false);
    this.#table.dropReference(former);
  }

  dropped({ bytes }: SharedMemory): void {
    for (const { link } of this.#lenders) link.forget(bytes.buffer);
  }
}
