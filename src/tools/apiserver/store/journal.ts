/**
 * The complete history of a resource, for comparison with the history of a client: revision, type and key of each
 * event. It is kept in columns of 13 bytes an event, so that it can hold millions of them. It never forgets an event,
 * unlike the history's window.
 */

import type { ChangeType } from './history.ts';

const TYPES: readonly ChangeType[] = ['ADDED', 'MODIFIED', 'DELETED'];
const CAPACITY_MIN = 1024;

/** The columns as they cross a thread boundary. */
export interface JournalColumns {
  readonly keys: readonly string[];
  readonly revisions: Float64Array;
  readonly keyIds: Uint32Array;
  readonly types: Uint8Array;
}

/** A change in the log of the server for tests. */
export type JournalEntry = readonly [revision: number, type: ChangeType, key: string];

export class Journal {
  readonly #ids = new Map<string, number>();
  readonly #keys: string[] = [];
  #revisions = new Float64Array(CAPACITY_MIN);
  #keyIds = new Uint32Array(CAPACITY_MIN);
  #types = new Uint8Array(CAPACITY_MIN);
  #length = 0;

  append(revision: number, type: ChangeType, key: string): void {
    if (this.#length === this.#revisions.length) this.#grow();
    this.#revisions[this.#length] = revision;
    this.#keyIds[this.#length] = this.#idOf(key);
    this.#types[this.#length] = TYPES.indexOf(type);
    this.#length++;
  }

  /** All entries with a revision above `fromRevision`. */
  columns(fromRevision: number): JournalColumns {
    let start = this.#length;
    while (start > 0 && (this.#revisions[start - 1] ?? 0) > fromRevision) start--;
    return {
      keys: this.#keys,
      revisions: this.#revisions.slice(start, this.#length),
      keyIds: this.#keyIds.slice(start, this.#length),
      types: this.#types.slice(start, this.#length),
    };
  }

  #idOf(key: string): number {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id = this.#keys.push(key) - 1;
    this.#ids.set(key, id);
    return id;
  }

  #grow(): void {
    const { revisions, keyIds, types } = this.columns(0);
    const capacity = this.#length * 2;
    (this.#revisions = new Float64Array(capacity)).set(revisions);
    (this.#keyIds = new Uint32Array(capacity)).set(keyIds);
    (this.#types = new Uint8Array(capacity)).set(types);
  }
}

/** The result of `log()`: `[revision, type, key]` tuples, each tuple made when it is read. */
export class JournalView implements Iterable<JournalEntry> {
  readonly #columns: JournalColumns;

  constructor(columns: JournalColumns) {
    this.#columns = columns;
  }

  /** Number of entries. */
  get length(): number {
    return this.#columns.revisions.length;
  }

  /** Returns the entry at a position, counted from the oldest; undefined for every position outside. */
  at(index: number): JournalEntry | undefined {
    const { revisions, types, keyIds, keys } = this.#columns;
    const revision = revisions[index];
    if (revision === undefined) return undefined;
    return [revision, TYPES[types[index] ?? 0] ?? 'ADDED', keys[keyIds[index] ?? 0] ?? ''];
  }

  /** Yields the entries, oldest first. */
  *[Symbol.iterator](): Iterator<JournalEntry> {
    for (let index = 0; index < this.length; index++) {
      const entry = this.at(index);
      if (entry !== undefined) yield entry;
    }
  }

  /** Returns all entries at once, oldest first. */
  toArray(): JournalEntry[] {
    return [...this];
  }
}
