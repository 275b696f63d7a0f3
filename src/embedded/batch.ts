/**
 * What a watch writes at once: events copied one after the other into a buffer that is used again when the socket
 * has taken it. At high rates fresh memory for every write would cost more than the copying.
 */

import type { StoredObject } from './stored-object.ts';

const CAPACITY = 256 * 1024;
const FREE_MAX = 16;

/** Buffers that their sockets have given back; shared by all watches of the thread. */
const free: Buffer[] = [];

export class Batch {
  #buffer: Buffer = free.pop() ?? Buffer.allocUnsafeSlow(CAPACITY);
  #length = 0;

  get empty(): boolean {
    return this.#length === 0;
  }

  /** Enough for one write. */
  get full(): boolean {
    return this.#length >= CAPACITY / 2;
  }

  add(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#length += bytes.copy(this.#buffer, this.#length);
  }

  addObject(object: StoredObject): void {
    this.#reserve(object.length);
    object.copyTo(this.#buffer, this.#length);
    this.#length += object.length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The bytes have been written, or will never be: the buffer may be used again. */
  release(): void {
    if (this.#buffer.length === CAPACITY && free.length < FREE_MAX) free.push(this.#buffer);
  }

  /** An object larger than the buffer gets a larger one, for this once. */
  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(this.#length + bytes + CAPACITY);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
