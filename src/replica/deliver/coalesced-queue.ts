/**
 * Pending notifications of a handler that is far behind while the backlog budget is short: at most three
 * notifications for one object, however often it changes.
 *
 * Each notification still begins at the state where the previous one for its object ended. An update is merged into a
 * pending add or update of the same object and takes the newer one's place, so versions never go back. An add and its
 * deletion cancel each other. An update before a deletion stays, so the handler receives the last state before it.
 * Nothing is merged across a cursor, which delivers its own states.
 */
import type { Entry } from '../store/entry.ts';
import { heldBytes, isCursor } from './pending.ts';
import type { Pending } from './pending.ts';
import { SplitMap } from './split-map.ts';

interface Node {
  first: Pending | undefined;
  second: Entry | undefined;
  /** Position of its newest notification, counted over everything that was ever pushed. */
  position: number;
  previous: Node | undefined;
  next: Node | undefined;
}

export class CoalescedQueue {
  #head: Node | undefined;
  #tail: Node | undefined;
  /** The newest node of each object since the last cursor. */
  readonly #latest: SplitMap<Node> = new SplitMap();
  #length = 0;
  #bytes = 0;
  #heldBytes = 0;
  /** Number of notifications, ever, that were merged into others instead of being delivered. */
  coalesced = 0;

  get length(): number {
    return this.#length;
  }

  /** Bytes of the objects in the notifications. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of superseded objects. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get first(): Pending | undefined {
    return this.#head?.first;
  }

  get second(): Entry | undefined {
    return this.#head?.second;
  }

  /** Position of the oldest notification; undefined when the queue is empty. */
  get position(): number | undefined {
    return this.#head?.position;
  }

  /** Appends a notification newer than all others. The queue takes over its references. */
  push(first: Pending | undefined, second: Entry | undefined, position: number): void {
    if (isCursor(first)) {
      this.#latest.clear();
      this.#append({ first, second, position, previous: undefined, next: undefined });
      return;
    }
    const key = (second ?? first)?.key ?? '';
    const before = this.#latest.get(key);
    if (before?.second && second) this.#mergeUpdate(before, first, second, position);
    else if (before?.second && !before.first) this.#mergeDeletion(before, before.second, first, key);
    else {
      const node: Node = { first, second, position, previous: undefined, next: undefined };
      this.#latest.set(key, node);
      this.#append(node);
    }
  }

  /** Removes the oldest notification. The caller, who has read it, takes over its references. */
  shift(): void {
    const head = this.#head;
    if (!head) return;
    this.#unlink(head);
    if (isCursor(head.first)) return;
    const key = (head.second ?? head.first)?.key ?? '';
    if (this.#latest.get(key) === head) this.#latest.delete(key);
  }

  /** `before` ends at the state `first`; afterwards it ends at `second`. */
  #mergeUpdate(before: Node, first: Entry | undefined, second: Entry, position: number): void {
    this.#unlink(before);
    before.second?.dropReference();
    first?.dropReference();
    before.second = second;
    before.position = position;
    this.#append(before);
    this.coalesced++;
  }

  #mergeDeletion(before: Node, added: Entry, deleted: Entry | undefined, key: string): void {
    this.#unlink(before);
    this.#latest.delete(key);
    added.dropReference();
    deleted?.dropReference();
    this.coalesced += 2;
  }

  #append(node: Node): void {
    node.previous = this.#tail;
    node.next = undefined;
    if (this.#tail) this.#tail.next = node;
    else this.#head = node;
    this.#tail = node;
    this.#count(node, 1);
  }

  #unlink(node: Node): void {
    if (node.previous) node.previous.next = node.next;
    else this.#head = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.#tail = node.previous;
    this.#count(node, -1);
  }

  #count({ first, second }: Node, sign: 1 | -1): void {
    this.#length += sign;
    if (isCursor(first)) return;
    this.#bytes += sign * ((second ?? first)?.length ?? 0);
    this.#heldBytes += sign * heldBytes(first);
  }
}
