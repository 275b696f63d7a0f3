/**
 * The index of every informer by namespace: a list of ordinals in columns for each namespace. A Set of ordinals would
 * be 28 bytes of heap an object, and would grow in a single step.
 */
import { ArrivalList } from './arrival-list.ts';
import type { ListColumns } from './arrival-list.ts';

/** An index: ordinals by value, such as a `Map<string, Set<number>>`. */
export interface OrdinalIndex {
  get(value: string): (Iterable<number> & { readonly size: number }) | undefined;
  keys(): Iterable<string>;
}

export class OrdinalsByNamespace implements OrdinalIndex {
  readonly #columns: ListColumns;
  readonly #lists: Map<string, ArrivalList> = new Map();
  /** The namespace of the last added ordinal, with the list: listed objects of a namespace arrive in a row. */
  #lastNamespace = '';
  #last: ArrivalList | undefined;

  constructor(columns: ListColumns) {
    this.#columns = columns;
  }

  get(namespace: string): ArrivalList | undefined {
    return this.#lists.get(namespace);
  }

  keys(): Iterable<string> {
    return this.#lists.keys();
  }

  /** Adds an ordinal. @param namespace '' for a cluster-scoped object, which is in no list */
  add(namespace: string, ordinal: number): void {
    if (namespace === '') return;
    if (!this.#last || namespace !== this.#lastNamespace) {
      this.#lastNamespace = namespace;
      this.#last = this.#lists.get(namespace) ?? new ArrivalList(this.#columns);
    }
    const list = this.#last;
    if (list.size === 0) this.#lists.set(namespace, list);
    list.append(ordinal);
  }

  remove(namespace: string, ordinal: number): void {
    const list = this.#lists.get(namespace);
    if (!list) return;
    list.remove(ordinal);
    if (list.size === 0) this.#lists.delete(namespace);
  }
}
