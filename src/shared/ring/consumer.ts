/**
 * The reading end of a ring: `peek` at the next record, read it in place, `advance`, and once per batch
 * `release`. A record's memory belongs to the reader until `release`.
 */
import { assert } from '../../base/errors.ts';
import { LENGTH_WORD, PADDING_TYPE, RECORD_HEADER_BYTES, TYPE_WORD, roomyBytesMax } from './layout.ts';
import { RingMemory } from './ring.ts';

const NOTHING = -1;

export class RingConsumer {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** The record that `peek` found: its type and where its payload starts. */
  type: number = PADDING_TYPE;
  offset = 0;
  readonly #memory: RingMemory;
  readonly #capacity: number;
  #position: number;
  #released: number;
  #tailSeen: number;

  constructor(memory: RingMemory) {
    this.#memory = memory;
    this.#capacity = memory.capacity;
    this.bytes = memory.bytes;
    this.words = memory.words;
    this.#position = memory.head.load();
    this.#released = this.#position;
    this.#tailSeen = memory.tail.load();
  }

  /** Finds the next record. Returns true when there is one; `type` and `offset` then describe it until `advance`. */
  peek(): boolean {
    for (;;) {
      if (this.#position === this.#tailSeen) {
        this.#tailSeen = this.#memory.tail.load();
        if (this.#position === this.#tailSeen) return false;
      }
      const place = this.#position & (this.#capacity - 1);
      this.type = this.words[(place >> 2) + TYPE_WORD] ?? 0;
      if (this.type > PADDING_TYPE) {
        this.offset = place + RECORD_HEADER_BYTES;
        return true;
      }
      // Padding before a record that did not fit (in the same publication), or a discarded record.
      this.#position = (this.#position + this.#lengthAt(place)) >>> 0;
      const isEnd = (this.#position & (this.#capacity - 1)) === 0;
      assert(isEnd || this.type !== PADDING_TYPE, 'padding must end the ring');
    }
  }

  /** Steps over the record that `peek` found. Its bytes stay valid until `release`. */
  advance(): void {
    const place = this.offset - RECORD_HEADER_BYTES;
    assert(place === (this.#position & (this.#capacity - 1)), 'advance without peek');
    this.#position = (this.#position + this.#lengthAt(place)) >>> 0;
  }

  /** Returns the memory of all passed records to the producer. True when there were any. */
  release(): boolean {
    return this.#release() !== NOTHING;
  }

  /**
   * Releases as `release` does, and returns whether the producer may be waiting for it. A claim can fail only in a ring
   * that is more than half full (`roomyBytesMax`). Waking a producer that waits for something else costs more than the
   * release.
   *
   * The tail is read after the head was stored: a producer that parks later sees the new head.
   */
  releaseToWaiting(): 'nothing' | 'released' | 'producer may wait' {
    const before = this.#release();
    if (before === NOTHING) return 'nothing';
    const usedBytes = (this.#memory.tail.load() - before) >>> 0;
    return usedBytes > roomyBytesMax(this.#capacity) ? 'producer may wait' : 'released';
  }

  /** Returns the previous head, or NOTHING. */
  #release(): number {
    const before = this.#released;
    if (before === this.#position) return NOTHING;
    this.#released = this.#position;
    this.#memory.head.store(this.#position);
    return before;
  }

  /** True when `peek` would find a record; reads the shared tail, changes nothing. */
  get hasRecord(): boolean {
    return this.#position !== this.#memory.tail.load();
  }

  #lengthAt(place: number): number {
    const length = this.words[(place >> 2) + LENGTH_WORD] ?? 0;
    assert(length >= RECORD_HEADER_BYTES && length <= this.#capacity, 'a record of impossible length');
    return length;
  }
}
