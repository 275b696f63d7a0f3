/**
 * The bytes of one write of a watch. Events are copied one after the other into a buffer, which is used again
 * when the socket has taken it. At high rates fresh memory for every write would cost more than the copying.
 */

import type { StoredObject } from './stored-object.ts';

const CAPACITY = 256 * 1024;
const FREE_MAX = 16;

/** Buffers that sockets have released; shared by all watches of the thread. */
const free: Buffer[] = [];

export class Batch {
  #buffer: Buffer = free.pop() ?? Buffer.allocUnsafeSlow(CAPACITY);
  #length = 0;

  get empty(): boolean {
    return this.#length === 0;
  }

  /** True when the bytes are enough for one write. */
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

  /** Returns the buffer for reuse: the bytes have been written, or never will be. */
  release(): void {
    if (this.#buffer.length === CAPACITY && free.length < FREE_MAX) free.push(this.#buffer);
  }

  /** Replaces the buffer by a larger one when the object does not fit. */
  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(this.#length + bytes + CAPACITY);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
