/**
 * The index that every informer has: slots by the namespace of their objects, a list in columns for each. A Set of them
 * would be 28 bytes of heap an object, and would grow in one piece.
 */
import { SlotList } from './slot-list.ts';
import type { ListColumns } from './slot-list.ts';

/** An index: slots by value. `Map<string, Set<number>>` is one. */
export interface SlotIndex {
  get(value: string): (Iterable<number> & { readonly size: number }) | undefined;
  keys(): Iterable<string>;
}

export class SlotsByNamespace implements SlotIndex {
  readonly #columns: ListColumns;
  readonly #lists: Map<string, SlotList> = new Map();
  /** The namespace of the last added slot, and its list: listed objects of one namespace come in a row. */
  #lastNamespace = '';
  #last: SlotList | undefined;

  constructor(columns: ListColumns) {
    this.#columns = columns;
  }

  get(namespace: string): SlotList | undefined {
    return this.#lists.get(namespace);
  }

  keys(): Iterable<string> {
    return this.#lists.keys();
  }

  /** Adds a slot. @param namespace '' for a cluster-scoped object, which is in no list */
  add(namespace: string, slot: number): void {
    if (namespace === '') return;
    if (!this.#last || namespace !== this.#lastNamespace) {
      this.#lastNamespace = namespace;
      this.#last = this.#lists.get(namespace) ?? new SlotList(this.#columns);
    }
    const list = this.#last;
    if (list.size === 0) this.#lists.set(namespace, list);
    list.append(slot);
  }

  remove(namespace: string, slot: number): void {
    const list = this.#lists.get(namespace);
    if (!list) return;
    list.remove(slot);
    if (list.size === 0) this.#lists.delete(namespace);
  }
}
