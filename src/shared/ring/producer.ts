/**
 * The writing end of a ring: `tryClaim`, fill the payload, `commit`, and once per batch `publish`. Nothing is
 * visible to the consumer before `publish`.
 */
import { assert } from '../../base/errors.ts';
import {
  LENGTH_WORD,
  PADDING_TYPE,
  RECORD_HEADER_BYTES,
  TYPE_WORD,
  payloadBytesMax,
  recordLength,
} from './layout.ts';
import { RingMemory } from './ring.ts';
import { compareU32 } from './word.ts';

/** Returned by `tryClaim` when the consumer must first release records. */
export const INSUFFICIENT_CAPACITY = -1;

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
  /** The open claim: the offset of its record (after any padding), or -1, and its maximum length. */
  #claimedOffset = INSUFFICIENT_CAPACITY;
  #claimedPosition = 0;
  #claimedBytes = 0;
  #claimedType = PADDING_TYPE;

  constructor(memory: RingMemory) {
    this.#memory = memory;
    this.#capacity = memory.capacity;
    this.bytes = memory.bytes;
    this.words = memory.words;
    this.payloadBytesMax = payloadBytesMax(memory.capacity);
    this.#position = memory.tail.load();
    this.#published = this.#position;
    this.#headSeen = memory.head.load();
  }

  /**
   * Returns the offset of a payload of up to `payloadBytes` (8-byte aligned), or INSUFFICIENT_CAPACITY. A claim
   * without a commit leaves no trace, padding included: the next one replaces it.
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

  /** Committed bytes that the consumer has not released, for metrics. */
  get backlogBytes(): number {
    return (this.#position - this.#memory.head.load()) >>> 0;
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
