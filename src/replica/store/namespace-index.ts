/**
 * The index that every informer has: slots by the namespace of their objects. The slots of a namespace are a list in
 * columns, in order of arrival. A Set of them would be 28 bytes of heap an object, and would grow in one piece.
 */
import { NONE, NumberColumns } from './columns.ts';

// Numbers of slots are stored plus one, so that 0 means `NONE`.
const PREVIOUS = 0;
const NEXT = 1;

/** The slots under one value of an index. */
export interface SlotGroup extends Iterable<number> {
  readonly size: number;
}

/** An index: groups of slots by value. */
export interface SlotIndex {
  get(value: string): SlotGroup | undefined;
  keys(): Iterable<string>;
}

class NamespaceSlots implements SlotGroup {
  readonly #links: NumberColumns;
  size = 0;
  first: number = NONE;
  last: number = NONE;

  constructor(links: NumberColumns) {
    this.#links = links;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let slot = this.first; slot !== NONE; slot = this.#links.get(slot, NEXT) - 1) yield slot;
  }

  link(previous: number, next: number): void {
    if (previous === NONE) this.first = next;
    else this.#links.set(previous, NEXT, next + 1);
    if (next === NONE) this.last = previous;
    else this.#links.set(next, PREVIOUS, previous + 1);
  }
}

export class NamespaceIndex implements SlotIndex {
  readonly #links: NumberColumns = new NumberColumns(2);
  readonly #groups: Map<string, NamespaceSlots> = new Map();
  /** The group of the last added slot: listed objects of one namespace come in a row. */
  #last: NamespaceSlots = new NamespaceSlots(this.#links);
  #lastNamespace = '';

  get(namespace: string): SlotGroup | undefined {
    return this.#groups.get(namespace);
  }

  keys(): Iterable<string> {
    return this.#groups.keys();
  }

  /** Adds a slot. @param namespace '' for a cluster-scoped object, which is in no group */
  add(namespace: string, slot: number): void {
    if (namespace === '') return;
    if (namespace !== this.#lastNamespace) {
      this.#lastNamespace = namespace;
      this.#last = this.#groups.get(namespace) ?? new NamespaceSlots(this.#links);
    }
    const group = this.#last;
    if (group.size++ === 0) this.#groups.set(namespace, group);
    this.#links.reserve(slot);
    group.link(group.last, slot);
    group.link(slot, NONE);
  }

  remove(namespace: string, slot: number): void {
    const group = this.#groups.get(namespace);
    if (!group) return;
    group.link(this.#links.get(slot, PREVIOUS) - 1, this.#links.get(slot, NEXT) - 1);
    if (--group.size === 0) this.#groups.delete(namespace);
  }
}
