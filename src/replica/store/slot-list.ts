/** A list of slots in order of arrival, linked in two columns of theirs: all slots of a state, or those of a namespace. */
import { NONE } from './columns.ts';
import type { NumberColumns } from './columns.ts';

/** The columns of a list. Numbers of slots are stored plus one, so that 0 means `NONE`. */
export interface ListColumns {
  readonly links: NumberColumns;
  /** The slots that arrived before and after it. */
  readonly previous: number;
  readonly next: number;
}

export class SlotList implements Iterable<number> {
  readonly #columns: ListColumns;
  first: number = NONE;
  #last: number = NONE;
  size = 0;

  constructor(columns: ListColumns) {
    this.#columns = columns;
  }

  /** Yields all slots. None may be removed meanwhile. */
  *[Symbol.iterator](): Generator<number> {
    for (let slot = this.first; slot !== NONE; slot = this.after(slot)) yield slot;
  }

  /** Returns the slot that arrived next, or `NONE`. A removed slot still has the one that it had. */
  after(slot: number): number {
    return this.#columns.links.get(slot, this.#columns.next) - 1;
  }

  append(slot: number): void {
    this.#link(this.#last, slot);
    this.#link(slot, NONE);
    this.size++;
  }

  remove(slot: number): void {
    this.#link(this.#columns.links.get(slot, this.#columns.previous) - 1, this.after(slot));
    this.size--;
  }

  /** Makes two slots neighbours; one may be `NONE`, the end of the list. */
  #link(before: number, after: number): void {
    const { links, previous, next } = this.#columns;
    if (before === NONE) this.first = after;
    else links.set(before, next, after + 1);
    if (after === NONE) this.#last = before;
    else links.set(after, previous, before + 1);
  }
}
