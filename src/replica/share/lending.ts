/** The threads that read one informer’s cache, on the main thread. */
import type { EntryTable } from '../store/entry-table.ts';
import type { SharedMemory } from '../store/store-memory.ts';
import { Loans } from './loans.ts';
import type { ReaderLink } from './reader-link.ts';

export class Lending {
  readonly loans: Loans;
  readonly #links: Set<ReaderLink> = new Set();

  constructor(table: EntryTable) {
    this.loans = new Loans(table);
  }

  add(link: ReaderLink): void {
    this.#links.add(link);
  }

  remove(link: ReaderLink): void {
    this.#links.delete(link);
  }

  /** Runs after each round of the drain. */
  turn(): void {
    for (const link of this.#links) link.turn();
  }

  /** Called when no row is in the memory any more. */
  dropped(memory: SharedMemory): void {
    for (const link of this.#links) link.forget(memory);
  }
}
