/**
 * What is pending for a handler that is far behind while the budget of backlogs is short: at most three
 * notifications for one object, however often it changes.
 *
 * Each notification still begins where the one before for its object ended. An update becomes part of an add or
 * update of the same object that is pending, and takes the place of the newer one, so versions never go back; an
 * add and its deletion become nothing. An update before a deletion stays: the handler hears of the last state
 * from what it was told. Nothing is merged across a cursor, which tells states of its own.
 */
import type { Entry } from '../store/entry.ts';
import { heldBytes, isCursor } from './pending.ts';
import type { Pending } from './pending.ts';

interface Node {
  first: Pending | undefined;
  second: Entry | undefined;
  /** Of the newest notification in it, among all that were ever pushed. */
  position: number;
  previous: Node | undefined;
  next: Node | undefined;
}

export class CoalescedQueue {
  #head: Node | undefined;
  #tail: Node | undefined;
  /** The last one of each object behind the last cursor. */
  readonly #latest: Map<string, Node> = new Map();
  #length = 0;
  #bytes = 0;
  #heldBytes = 0;
  /** Notifications that nobody is told of because they became part of others, ever. */
  coalesced = 0;

  get length(): number {
    return this.#length;
  }

  /** Of the objects that the notifications are about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of superseded objects. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get first(): Pending | undefined {
    return this.#head?.first;
  }

  get second(): Entry | undefined {
    return this.#head?.second;
  }

  /** Of the oldest; undefined when it is empty. */
  get position(): number | undefined {
    return this.#head?.position;
  }

  /** Takes what is newer than everything in it, and its holds. */
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

  /** Takes the oldest away; its holds go to whoever has read it. */
  shift(): void {
    const head = this.#head;
    if (!head) return;
    this.#unlink(head);
    if (isCursor(head.first)) return;
    const key = (head.second ?? head.first)?.key ?? '';
    if (this.#latest.get(key) === head) this.#latest.delete(key);
  }

  /** `before` told of, or from, some state up to `first`; now it goes on to `second`. */
  #mergeUpdate(before: Node, first: Entry | undefined, second: Entry, position: number): void {
    this.#unlink(before);
    before.second?.letGo();
    first?.letGo();
    before.second = second;
    before.position = position;
    this.#append(before);
    this.coalesced++;
  }

  #mergeDeletion(before: Node, added: Entry, deleted: Entry | undefined, key: string): void {
    this.#unlink(before);
    this.#latest.delete(key);
    added.letGo();
    deleted?.letGo();
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
