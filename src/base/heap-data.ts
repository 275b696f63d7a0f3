/** A binary heap of items with keys. Each key is in it once and can be found, changed or removed by key. */

interface Node<Key, Item> {
  readonly key: Key;
  item: Item;
  position: number;
}

/** True when the first comes out before the second. */
export type LessFunction<Item> = (first: Item, second: Item) => boolean;

export class HeapData<Item, Key = string> {
  readonly #less: LessFunction<Item>;
  readonly #byKey: Map<Key, Node<Key, Item>> = new Map();
  /** The nodes: each comes out no later than its children, at `2 n + 1` and `2 n + 2`. */
  readonly #nodes: Node<Key, Item>[] = [];

  constructor(less: LessFunction<Item>) {
    this.#less = less;
  }

  get size(): number {
    return this.#nodes.length;
  }

  /** The item that comes out next. */
  get first(): { readonly key: Key; readonly item: Item } | undefined {
    return this.#nodes[0];
  }

  get(key: Key): Item | undefined {
    return this.#byKey.get(key)?.item;
  }

  /** Yields the nodes in the order in which their keys were added. */
  nodes(): IterableIterator<{ readonly key: Key; readonly item: Item }> {
    return this.#byKey.values();
  }

  set(key: Key, item: Item): void {
    let node = this.#byKey.get(key);
    if (node === undefined) {
      node = { key, item, position: this.#nodes.length };
      this.#byKey.set(key, node);
      this.#nodes.push(node);
    } else {
      node.item = item;
    }
    this.#sift(node);
  }

  delete(key: Key): boolean {
    const node = this.#byKey.get(key);
    if (node === undefined) return false;
    this.#byKey.delete(key);
    const last = this.#nodes.pop()!;
    if (last !== node) {
      this.#place(last, node.position);
      this.#sift(last);
    }
    return true;
  }

  clear(): void {
    this.#nodes.length = 0;
    this.#byKey.clear();
  }

  #sift(node: Node<Key, Item>): void {
    while (node.position > 0) {
      const parent = this.#nodes[(node.position - 1) >> 1]!;
      if (!this.#less(node.item, parent.item)) break;
      this.#swap(node, parent);
    }
    for (;;) {
      const left = this.#nodes[2 * node.position + 1];
      const right = this.#nodes[2 * node.position + 2];
      if (left === undefined) return;
      const child = right !== undefined && this.#less(right.item, left.item) ? right : left;
      if (!this.#less(child.item, node.item)) return;
      this.#swap(node, child);
    }
  }

  #swap(first: Node<Key, Item>, second: Node<Key, Item>): void {
    const { position } = first;
    this.#place(first, second.position);
    this.#place(second, position);
  }

  #place(node: Node<Key, Item>, position: number): void {
    node.position = position;
    this.#nodes[position] = node;
  }
}
