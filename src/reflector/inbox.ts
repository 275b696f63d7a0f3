/**
 * What happened and has not been dealt with: one first-in, first-out list for all reflectors of a thread.
 *
 * A thread with sockets may never wait for room. So an input that meets full rings stays at the head with
 * the position it got to, and everything that happens meanwhile (more bytes, the end of a connection, a
 * timer) queues up behind it, in order. `drain` goes on when there is room again.
 */

export interface Input {
  /** Does what there is room for and remembers how far that was. False: not done, offer it again. */
  advance(): boolean;
}

interface Link {
  readonly input: Input;
  next: Link | undefined;
}

export class Inbox {
  #head: Link | undefined;
  #last: Link | undefined;
  #length = 0;
  #isDraining = false;

  /** Deals with the input at once if nothing is before it. */
  offer(input: Input): void {
    const link: Link = { input, next: undefined };
    if (this.#last) this.#last.next = link;
    else this.#head = link;
    this.#last = link;
    this.#length++;
    this.drain();
  }

  /**
   * Goes on until an input finds no room. Safe to call from inside an input: the outer call continues.
   *
   * @returns how many inputs were completed
   */
  drain(): number {
    if (this.#isDraining) return 0;
    this.#isDraining = true;
    let completed = 0;
    try {
      while (this.#head?.input.advance()) {
        this.#head = this.#head.next;
        this.#length--;
        completed++;
        if (!this.#head) this.#last = undefined;
      }
    } finally {
      this.#isDraining = false;
    }
    return completed;
  }

  /** An input is being dealt with further up the stack. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  get length(): number {
    return this.#length;
  }

  /** Forgets everything. */
  clear(): void {
    this.#head = undefined;
    this.#last = undefined;
    this.#length = 0;
  }
}
