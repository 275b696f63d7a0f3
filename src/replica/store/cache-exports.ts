/** The threads that read an informer’s cache, on the main thread. */
import type { EntryTable } from './entry-table.ts';
import { EntryFlag } from './entry.ts';
import type { BytesReaders, SharedMemory } from './store-memory.ts';

/** The cache of one thread. */
export interface CacheExport {
  /** States that the thread holds, and their bytes. */
  readonly exportedCount: number;
  readonly exportedBytes: number;
  readonly link: { forget(memory: ArrayBufferLike): void };
  merged(): void;
  readonly mayMove: boolean;
  /** @returns whether the thread holds the row */
  moved(row: number, former: number): boolean;
}

/** Figures of an informer's cache in other threads. */
export interface CacheExportStats {
  readonly threads: number;
  /** States that threads hold, and the bytes of these states, summed over the threads. */
  readonly states: number;
  readonly bytes: number;
  /** Threads so far. */
  readonly attached: number;
}

export class CacheExports implements BytesReaders {
  readonly #table: EntryTable;
  readonly #wake: () => void;
  readonly #cacheExports: Set<CacheExport> = new Set();
  #attached = 0;

  /** @param wake requests a turn of the drain, which publishes the records of moves; at rest there is no other turn */
  constructor(table: EntryTable, wake: () => void) {
    this.#table = table;
    this.#wake = wake;
  }

  add(cacheExport: CacheExport): void {
    this.#cacheExports.add(cacheExport);
    this.#attached++;
  }

  remove(cacheExport: CacheExport): void {
    this.#cacheExports.delete(cacheExport);
  }

  get stats(): CacheExportStats {
    const stats = { threads: this.#cacheExports.size, states: 0, bytes: 0, attached: this.#attached };
    for (const { exportedCount, exportedBytes } of this.#cacheExports) {
      stats.states += exportedCount;
      stats.bytes += exportedBytes;
    }
    return stats;
  }

  /** Called after a round of the drain that merged records. */
  merged(): void {
    for (const cacheExport of this.#cacheExports) cacheExport.merged();
  }

  mayMove(): boolean {
    for (const { mayMove } of this.#cacheExports) if (!mayMove) return false;
    return true;
  }

  moved(row: number, former: number): void {
    // If no thread holds the row, dropping this reference frees the former row.
    this.#table.addReference(former);
    let isExported = false;
    for (const cacheExport of this.#cacheExports) isExported = cacheExport.moved(row, former) || isExported;
    if (isExported) this.#wake();
    else this.#table.setFlag(row, EntryFlag.Exported, false);
    this.#table.dropReference(former);
  }

  dropped({ bytes }: SharedMemory): void {
    for (const { link } of this.#cacheExports) link.forget(bytes.buffer);
  }
}
