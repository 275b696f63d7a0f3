/**
 * A single-producer, single-consumer ring of variable-length records in shared memory. `RingProducer` and `RingConsumer`
 * are the two ends; each belongs to a single thread.
 */
import { assert } from '../../base/errors.ts';
import {
  CAPACITY_MAX_BYTES,
  CAPACITY_MIN_BYTES,
  DATA_OFFSET,
  HEAD_LINE,
  LENGTH_WORD,
  PADDING_TYPE,
  RECORDS_PER_RING_MIN,
  RECORD_ALIGNMENT,
  RECORD_HEADER_BYTES,
  TAIL_LINE,
  TYPE_WORD,
} from './ring-layout.ts';
import { Word, compareU32 } from './word.ts';

/** Returned by `tryClaim` when the consumer must first release records. */
export const INSUFFICIENT_CAPACITY = -1;

/** Views of a ring. To share it, structured-clone the `buffer`, not this object. */
export class RingMemory {
  readonly buffer: SharedArrayBuffer;
  readonly capacity: number;
  readonly tail: Word;
  readonly head: Word;
  readonly words: Int32Array;
  readonly bytes: Uint8Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.capacity = buffer.byteLength - DATA_OFFSET;
    const header = new Int32Array(buffer, 0, DATA_OFFSET / Int32Array.BYTES_PER_ELEMENT);
    this.tail = new Word(header, TAIL_LINE);
    this.head = new Word(header, HEAD_LINE);
    this.words = new Int32Array(buffer, DATA_OFFSET);
    this.bytes = new Uint8Array(buffer, DATA_OFFSET);
  }

  /** Drops all records. No producer and no consumer may exist; new ones begin here. */
  clear(): void {
    this.head.store(this.tail.load());
  }

  /** Returns the length of the record at this place, header included. */
  lengthAt(place: number): number {
    const length = this.words[(place >> 2) + LENGTH_WORD] ?? 0;
    assert(length >= RECORD_HEADER_BYTES && length <= this.capacity, 'a record of impossible length');
    return length;
  }
}

/**
 * @param capacity bytes, a power of two
 * @param startPosition initial value of both positions; tests start near the wrap of u32
 */
export function allocateRing(capacity: number, startPosition = 0): SharedArrayBuffer {
  const isPowerOfTwo = Number.isInteger(Math.log2(capacity));
  const isAllowed = isPowerOfTwo && capacity >= CAPACITY_MIN_BYTES && capacity <= CAPACITY_MAX_BYTES;
  assert(isAllowed, 'a ring whose capacity is no power of two within the bounds', capacity);
  const isPosition = startPosition >= 0 && startPosition < 2 ** 32 && startPosition % RECORD_ALIGNMENT === 0;
  assert(isPosition, 'a ring with a start position that is no aligned u32', startPosition);
  const memory = new RingMemory(new SharedArrayBuffer(DATA_OFFSET + capacity));
  memory.tail.store(startPosition);
  memory.head.store(startPosition);
  return memory.buffer;
}

export function recordLength(payloadBytes: number): number {
  return (payloadBytes + RECORD_HEADER_BYTES + RECORD_ALIGNMENT - 1) & ~(RECORD_ALIGNMENT - 1);
}

/** Returns the smallest ring for records with so much payload. */
export function capacityFor(payloadBytes: number): number {
  return 2 ** Math.ceil(Math.log2(recordLength(payloadBytes) * RECORDS_PER_RING_MIN));
}

/**
 * The writing end: `tryClaim`, fill the payload, `commit`, and once per batch `publish`. No record is visible to the consumer
 * before `publish`.
 */
export class RingProducer {
  /** Memory for payloads, at the offset that `tryClaim` returned. */
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  readonly payloadBytesMax: number;
  readonly #memory: RingMemory;
  readonly #capacity: number;
  /** Position after the last committed record; ahead of the shared tail until `publish`. */
  #position: number;
  #published: number;
  /** Last read value of the consumer's head: loaded again only when the ring looks full. */
  #headSeen: number;
  /** The open claim: the offset of the record (after any padding), or -1, and the maximum length. */
  #claimedOffset = INSUFFICIENT_CAPACITY;
  #claimedPosition = 0;
  #claimedBytes = 0;
  #claimedType = PADDING_TYPE;

  constructor(memory: RingMemory) {
    this.#memory = memory;
    this.#capacity = memory.capacity;
    this.bytes = memory.bytes;
    this.words = memory.words;
    this.payloadBytesMax = memory.capacity / RECORDS_PER_RING_MIN - RECORD_HEADER_BYTES;
    this.#position = memory.tail.load();
    this.#published = this.#position;
    this.#headSeen = memory.head.load();
  }

  /**
   * Returns the offset of a payload of up to `payloadBytes` (8-byte aligned), or INSUFFICIENT_CAPACITY. A claim
   * without a commit leaves no trace, padding included: the next claim replaces it.
   */
  tryClaim(type: number, payloadBytes: number): number {
    assert(type !== PADDING_TYPE, 'a record of the padding type');
    this.#claimedOffset = INSUFFICIENT_CAPACITY;
    const length = this.#lengthOf(payloadBytes);
    const place = this.#position & (this.#capacity - 1);
    const toEnd = this.#capacity - place;
    const padding = length > toEnd ? toEnd : 0;
    if (!this.#hasRoom(padding + length)) return INSUFFICIENT_CAPACITY;
    if (padding > 0) this.#writeHeader(place, padding, PADDING_TYPE);
    this.#claimedOffset = (padding > 0 ? 0 : place) + RECORD_HEADER_BYTES;
    this.#claimedPosition = this.#position + padding;
    this.#claimedBytes = payloadBytes;
    this.#claimedType = type;
    return this.#claimedOffset;
  }

  /** Returns whether `tryClaim` of this size would succeed now: for records that go to several rings. */
  canClaim(payloadBytes: number): boolean {
    const length = this.#lengthOf(payloadBytes);
    const toEnd = this.#capacity - (this.#position & (this.#capacity - 1));
    return this.#hasRoom(length > toEnd ? toEnd + length : length);
  }

  /** Ends the claim; `payloadBytes` may be less than was claimed. */
  commit(payloadBytes: number): void {
    assert(this.#claimedOffset !== INSUFFICIENT_CAPACITY, 'commit without a claim');
    assert(payloadBytes >= 0 && payloadBytes <= this.#claimedBytes, 'commit of more than was claimed');
    const length = recordLength(payloadBytes);
    this.#writeHeader(this.#claimedOffset - RECORD_HEADER_BYTES, length, this.#claimedType);
    this.#position = (this.#claimedPosition + length) >>> 0;
    this.#claimedOffset = INSUFFICIENT_CAPACITY;
  }

  /** Makes all committed records visible. Returns true when there were any. */
  publish(): boolean {
    if (this.#published === this.#position) return false;
    this.#published = this.#position;
    this.#memory.tail.store(this.#position);
    return true;
  }

  #lengthOf(payloadBytes: number): number {
    assert(payloadBytes >= 0 && payloadBytes <= this.payloadBytesMax, 'a claim of a size that can never fit');
    return recordLength(payloadBytes);
  }

  #hasRoom(bytes: number): boolean {
    const needed = (this.#position + bytes - this.#capacity) >>> 0;
    if (compareU32(this.#headSeen, needed) >= 0) return true;
    this.#headSeen = this.#memory.head.load();
    return compareU32(this.#headSeen, needed) >= 0;
  }

  #writeHeader(place: number, length: number, type: number): void {
    const word = place >> 2;
    this.words[word + LENGTH_WORD] = length;
    this.words[word + TYPE_WORD] = type;
  }
}

/**
 * The reading end: `peek` at the next record, read it in place, `advance`, and once per batch `release`. A record's memory
 * belongs to the reader until `release`.
 */
export class RingConsumer {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** The record that `peek` found: the type and the start of the payload. */
  type: number = PADDING_TYPE;
  offset = 0;
  readonly #memory: RingMemory;
  readonly #capacity: number;
  readonly #roomyBytesMax: number;
  #position: number;
  #released: number;
  #tailSeen: number;

  constructor(memory: RingMemory) {
    this.#memory = memory;
    this.#capacity = memory.capacity;
    this.bytes = memory.bytes;
    this.words = memory.words;
    this.#roomyBytesMax = memory.capacity - (2 * memory.capacity) / RECORDS_PER_RING_MIN;
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
      // Padding before a record that did not fit, in the same publication.
      this.#position = (this.#position + this.#memory.lengthAt(place)) >>> 0;
      assert((this.#position & (this.#capacity - 1)) === 0, 'padding must end the ring');
    }
  }

  /** Steps over the record that `peek` found. The bytes stay valid until `release`. */
  advance(): void {
    const place = this.offset - RECORD_HEADER_BYTES;
    assert(place === (this.#position & (this.#capacity - 1)), 'advance without peek');
    this.#position = (this.#position + this.#memory.lengthAt(place)) >>> 0;
  }

  /** Returns the memory of all passed records to the producer. True when there were any. */
  release(): boolean {
    return this.releaseToWaiting() !== 'nothing';
  }

  /**
   * Releases as `release` does, and returns whether the producer may be waiting for it. A claim can fail only in a ring
   * that is more than half full: a record and the padding before it have room in the rest. Waking a producer that waits
   * for something else costs more than the release.
   *
   * The tail is read after the head was stored: a producer that parks later sees the new head.
   */
  releaseToWaiting(): 'nothing' | 'released' | 'producer may wait' {
    const before = this.#released;
    if (before === this.#position) return 'nothing';
    this.#released = this.#position;
    this.#memory.head.store(this.#position);
    const usedBytes = (this.#memory.tail.load() - before) >>> 0;
    return usedBytes > this.#roomyBytesMax ? 'producer may wait' : 'released';
  }

  /** True when `peek` would find a record; reads the shared tail, without a change. */
  get hasRecord(): boolean {
    return this.#position !== this.#memory.tail.load();
  }
}
