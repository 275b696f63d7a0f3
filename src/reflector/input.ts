/**
 * The two inputs of a reflector's inbox: something that happened, and bytes that arrived.
 */
import type { Input } from './inbox.ts';

/** Carries out the effects of earlier events. False: one of them found no room. */
export interface Flushing {
  flush(): boolean;
}

/** Something that happens once. It is done when its effects, which may find no room, are carried out. */
export class EventInput implements Input {
  readonly #owner: Flushing;
  #handle: (() => void) | undefined;

  constructor(owner: Flushing, handle: () => void) {
    this.#owner = owner;
    this.#handle = handle;
  }

  advance(): boolean {
    const handle = this.#handle;
    this.#handle = undefined;
    handle?.();
    return this.#owner.flush();
  }
}

export interface ChunkReader extends Flushing {
  /** Nobody wants the rest any more. */
  readonly isClosed: boolean;
  /** Takes what there is room for, from `start` on. @returns the first index that was not taken */
  read(chunk: Buffer, start: number): number;
}

/** Bytes of a response, and how far they have been read. They are somebody else's until `keep`. */
export class ChunkInput implements Input {
  readonly #reader: ChunkReader;
  #chunk: Buffer;
  #position = 0;

  constructor(reader: ChunkReader, chunk: Buffer) {
    this.#reader = reader;
    this.#chunk = chunk;
  }

  advance(): boolean {
    const reader = this.#reader;
    if (!reader.isClosed) this.#position = reader.read(this.#chunk, this.#position);
    return (reader.isClosed || this.#position >= this.#chunk.length) && reader.flush();
  }

  /** Copies what has not been read. */
  keep(): void {
    if (this.#position >= this.#chunk.length) return;
    this.#chunk = Buffer.from(this.#chunk.subarray(this.#position));
    this.#position = 0;
  }
}
