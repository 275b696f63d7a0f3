/**
 * The inputs that have not been handled: one first-in, first-out list for all reflectors of a thread. An input is
 * an event, or bytes of a response.
 *
 * A thread with sockets must not block. An input that meets full rings stays at the head and keeps its
 * position. Later inputs (bytes, the end of a connection, a timer) queue up behind it, in order. `drain`
 * continues when there is room again.
 */

/** The owner of an input's effects. */
export interface Flushing {
  /** Carries out the effects of earlier inputs. @returns false when one of them found no room */
  flush(): boolean;
}

/** The response that bytes belong to. */
export interface ByteReader extends Flushing {
  /** True when the rest of the bytes is not needed any more. */
  readonly isClosed: boolean;
  /** The reader of the bytes; without one they are dropped. */
  readonly body:
    | {
        /** Takes as much as there is room for, from `start` on. @returns the first index that was not taken */
        write(chunk: Buffer, start: number): number;
      }
    | undefined;
}

interface EventInput {
  readonly kind: 'event';
  readonly owner: Flushing;
  /** Undefined once it was called. */
  handle: (() => void) | undefined;
  next: Input | undefined;
}

interface ChunkInput {
  readonly kind: 'chunk';
  readonly owner: ByteReader;
  chunk: Buffer;
  /** The first index that was not read. */
  position: number;
  next: Input | undefined;
}

type Input = EventInput | ChunkInput;

export class Inbox {
  readonly #onTurn: () => void;
  #head: Input | undefined;
  #last: Input | undefined;
  #length = 0;
  #isDraining = false;
  #isClosed = false;

  /** @param onTurn called after an offered input and all before it were handled or found no room */
  constructor(onTurn: () => void) {
    this.#onTurn = onTurn;
  }

  /**
   * Calls `handle`, at once if no other input is waiting. The input is done when its effects, which may find
   * no room, are carried out.
   */
  offerEvent(owner: Flushing, handle: () => void): void {
    if (this.#isClosed) return;
    this.#append({ kind: 'event', owner, handle, next: undefined });
    this.drain();
    if (!this.#isDraining) this.#onTurn();
  }

  /** Passes bytes to the response's body, at once if no other input is waiting. Copies what is not read. */
  offerBytes(owner: ByteReader, chunk: Buffer): void {
    if (this.#isClosed) return;
    const input: ChunkInput = { kind: 'chunk', owner, chunk, position: 0, next: undefined };
    this.#append(input);
    this.drain();
    if (!owner.isClosed && input.position < chunk.length) {
      input.chunk = Buffer.from(chunk.subarray(input.position));
      input.position = 0;
    }
    if (!this.#isDraining) this.#onTurn();
  }

  /**
   * Handles inputs until one finds no room. A call from inside an input does nothing: the outer call
   * continues.
   *
   * @returns the number of completed inputs
   */
  drain(): number {
    if (this.#isDraining) return 0;
    this.#isDraining = true;
    let completed = 0;
    try {
      for (let input = this.#head; input && advance(input) && !this.#isClosed; input = this.#head) {
        this.#head = input.next;
        this.#length--;
        completed++;
        if (!this.#head) this.#last = undefined;
      }
    } finally {
      this.#isDraining = false;
    }
    return completed;
  }

  get length(): number {
    return this.#length;
  }

  /** Drops all inputs, and all later ones. */
  close(): void {
    this.#isClosed = true;
    this.#head = undefined;
    this.#last = undefined;
    this.#length = 0;
  }

  #append(input: Input): void {
    if (this.#last) this.#last.next = input;
    else this.#head = input;
    this.#last = input;
    this.#length++;
  }
}

/** Does as much as there is room for. @returns false when the input is not done */
function advance(input: Input): boolean {
  const { owner } = input;
  if (input.kind === 'event') {
    const { handle } = input;
    input.handle = undefined;
    handle?.();
    return owner.flush();
  }
  const { chunk } = input;
  if (!input.owner.isClosed) {
    const { body } = input.owner;
    input.position = body ? body.write(chunk, input.position) : chunk.length;
  }
  return (input.owner.isClosed || input.position >= chunk.length) && owner.flush();
}
