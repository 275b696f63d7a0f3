/**
 * An unbounded queue of pairs in chunks: a listener's pending notifications. A chunk is appended when the last one is
 * full and dropped when it is empty, so the queue grows and shrinks without copying. One empty chunk is kept. The
 * listener is its only reader, the merge its only writer.
 *
 * ```
 *  head ─► [ – – – c d e ] ─► [ f g h i j k ] ─► [ l m ] ◄─ tail        spare [ ]
 * ```
 */

/** Pairs in a chunk. Its arrays grow with their use, because most queues stay short. */
const CHUNK_PAIRS = 1024;

interface Chunk<First, Second> {
  readonly firsts: (First | undefined)[];
  readonly seconds: (Second | undefined)[];
  next: Chunk<First, Second> | undefined;
}

export class ChunkedQueue<First, Second> {
  #head: Chunk<First, Second> = { firsts: [], seconds: [], next: undefined };
  #headAt = 0;
  #tail: Chunk<First, Second> = this.#head;
  /** Index behind the newest pair in the tail. */
  #tailEnd = 0;
  #spare: Chunk<First, Second> | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(first: First | undefined, second: Second | undefined): void {
    if (this.#tailEnd === CHUNK_PAIRS) this.#append();
    this.#tail.firsts[this.#tailEnd] = first;
    this.#tail.seconds[this.#tailEnd] = second;
    this.#tailEnd++;
    this.#length++;
  }

  get first(): First | undefined {
    return this.#head.firsts[this.#headAt];
  }

  get second(): Second | undefined {
    return this.#head.seconds[this.#headAt];
  }

  /** Removes the oldest pair. The queue must not be empty. */
  shift(): void {
    this.#head.firsts[this.#headAt] = undefined;
    this.#head.seconds[this.#headAt] = undefined;
    this.#headAt++;
    this.#length--;
    if (this.#length === 0) {
      // The head is the tail. A queue that is always short restarts at index 0, so its arrays stay short.
      this.#headAt = 0;
      this.#tailEnd = 0;
    } else if (this.#headAt === CHUNK_PAIRS) {
      this.#dropHead();
    }
  }

  #append(): void {
    const chunk = this.#spare ?? { firsts: [], seconds: [], next: undefined };
    this.#spare = undefined;
    this.#tail.next = chunk;
    this.#tail = chunk;
    this.#tailEnd = 0;
  }

  #dropHead(): void {
    const { next } = this.#head;
    this.#head.next = undefined;
    this.#spare = this.#head;
    this.#head = next ?? this.#tail;
    this.#headAt = 0;
  }
}
