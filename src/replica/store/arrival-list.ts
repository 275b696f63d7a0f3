/** A list of ordinals in order of arrival, linked in two columns: all ordinals of a state, or all ordinals of a namespace. */
import { NO_ORDINAL } from './columns.ts';
import type { NumberColumns } from './columns.ts';

/** The columns of a list. Ordinals are stored plus 1, so that 0 means `NO_ORDINAL`. */
export interface ListColumns {
  readonly links: NumberColumns;
  /** The ordinals that arrived before and after it. */
  readonly previous: number;
  readonly next: number;
}

export class ArrivalList implements Iterable<number> {
  readonly #columns: ListColumns;
  first: number = NO_ORDINAL;
  #last: number = NO_ORDINAL;
  size = 0;

  constructor(columns: ListColumns) {
    this.#columns = columns;
  }

  /** Yields all ordinals. The caller removes no ordinal during the iteration. */
  *[Symbol.iterator](): Generator<number> {
    for (let ordinal = this.first; ordinal !== NO_ORDINAL; ordinal = this.after(ordinal)) yield ordinal;
  }

  /** Returns the ordinal that arrived next, or `NO_ORDINAL`. A removed ordinal keeps its link to the next. */
  after(ordinal: number): number {
    return this.#columns.links.get(ordinal, this.#columns.next) - 1;
  }

  append(ordinal: number): void {
    this.#link(this.#last, ordinal);
    this.#link(ordinal, NO_ORDINAL);
    this.size++;
  }

  remove(ordinal: number): void {
    this.#link(this.#columns.links.get(ordinal, this.#columns.previous) - 1, this.after(ordinal));
    this.size--;
  }

  /** Makes two ordinals neighbours; either may be `NO_ORDINAL`, the end of the list. */
  #link(before: number, after: number): void {
    const { links, previous, next } = this.#columns;
    if (before === NO_ORDINAL) this.first = after;
    else links.set(before, next, after + 1);
    if (after === NO_ORDINAL) this.#last = before;
    else links.set(after, previous, before + 1);
  }
}
