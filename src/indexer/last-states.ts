/**
 * The last state of each object, as far as a shard keeps it, by id: its version, and a fingerprint of its metadata. By the version
 * it drops an event that a server repeats, or sends after a newer one; such an event would set the cache back. By the
 * fingerprint it sees that a change did not touch the extracted fields.
 */
import { isOlderResourceVersion } from '../kube/resource-version.ts';
import { HalfSipHash } from '../shared/record/key-hash.ts';

/** Digits of 2^53 - 1. */
const DIGITS_MAX = 16;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/**
 * Returns the number with exactly this decimal text, or -1: digits without a leading zero, below 2^53. Any other version
 * stays opaque text, as Kubernetes allows.
 */
export function canonicalDecimal(bytes: Uint8Array, start: number, length: number): number {
  if (length === 0 || length > DIGITS_MAX) return -1;
  if (length > 1 && bytes[start] === DIGIT_0) return -1;
  let value = 0;
  for (let at = start; at < start + length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) return -1;
    value = value * 10 + (byte - DIGIT_0);
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : -1;
}

export type VersionOrder = 'newer' | 'same' | 'older';

const NUMBERS_MIN = 64;

/**
 * Newest version of every key: a number (8 bytes a key), or text for versions from 2^53 on and opaque ones.
 *
 * Versions of an open relist are kept apart, like the main thread's second state. When the relist is aborted, the watch
 * may resume before it, and the events that follow are new.
 */
export class KeyVersions {
  #live: VersionTable = new VersionTable();
  #listed: VersionTable | undefined;

  /** Begins a relist; drops the versions of an open one. */
  begin(): void {
    this.#listed = new VersionTable();
  }

  /** Makes the listed versions the live ones. */
  end(): void {
    if (this.#listed) this.#live = this.#listed;
    this.#listed = undefined;
  }

  abort(): void {
    this.#listed = undefined;
  }

  /** Restores the versions of a key that the main thread has, in the successor of a shard. */
  restore(id: number, live: number | string | undefined, listed: number | string | undefined): void {
    this.#live.restore(id, live);
    this.#listed?.restore(id, listed);
  }

  /** @param version a number below 2^53, or any other text */
  set(id: number, version: number | string): void {
    (this.#listed ?? this.#live).set(id, version);
  }

  /** Compares a version with the live one of the id. Counts an opaque version that differs as newer. */
  orderOf(id: number, version: number | string): VersionOrder {
    return this.#live.orderOf(id, version);
  }
}

class VersionTable {
  /** Versions by id; -1 for text. */
  #numbers: Float64Array = new Float64Array(NUMBERS_MIN);
  readonly #texts = new Map<number, string>();

  set(id: number, version: number | string): void {
    if (id >= this.#numbers.length) this.#grow(id);
    this.#numbers[id] = typeof version === 'number' ? version : -1;
    if (typeof version === 'string') this.#texts.set(id, version);
    else if (this.#texts.size > 0) this.#texts.delete(id);
  }

  restore(id: number, version: number | string | undefined): void {
    if (version !== undefined) this.set(id, version);
  }

  orderOf(id: number, version: number | string): VersionOrder {
    const known = this.#numbers[id] ?? -1;
    if (typeof version === 'number' && known >= 0) {
      if (version === known) return 'same';
      return version < known ? 'older' : 'newer';
    }
    const before = this.#texts.get(id) ?? String(known);
    const now = String(version);
    if (now === before) return 'same';
    return isOlderResourceVersion(now, before) ? 'older' : 'newer';
  }

  #grow(id: number): void {
    const numbers = new Float64Array(Math.max(id + 1, this.#numbers.length * 2));
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}

const WORDS = 3;
const LOW = 0;
const HIGH = 1;
const TAIL_LENGTH = 2;
/** Small, because there may be hundreds of informers with a few objects each. */
const CHUNK_SHIFT = 10;
const CHUNK_IDS: number = 1 << CHUNK_SHIFT;

/** Place of one object, and of its version's token, in a buffer. */
export interface HeadSpan {
  start: number;
  end: number;
  versionStart: number;
  versionEnd: number;
}

/**
 * Fingerprint of each object's head at its last change. The head is all metadata before managedFields, or all of it, without
 * the version; most changes are of status and managedFields only.
 *
 * ```
 *  {"metadata":{"name":"web-0","uid":"…","resourceVersion":"12345","creationTimestamp":…,"managedFields":[…
 *  └──────────── front ───────────────────────────────────┘       └──────────── tail ─────────────────┘
 * ```
 *
 * Each key takes 12 bytes: a hash of 64 bits and the length of the tail. A person who writes objects must not be able
 * to construct two heads with one hash, because a change of a label would be missed. Therefore the hash is
 * HalfSipHash-1-3 with a random key. By chance, one change in 2^64 is missed.
 */
export class MetadataFingerprints {
  readonly #hash: HalfSipHash = new HalfSipHash();
  #chunks: Int32Array[] = [];
  /** Tail length of the different head that `isSame` has just hashed; 0 when the hash is of no such head. */
  #hashedTail = 0;

  /** Returns whether the object's head equals the last one that was set. */
  isSame(id: number, bytes: Uint8Array, span: HeadSpan): boolean {
    this.#hashedTail = 0;
    const chunk = this.#chunks[id >>> CHUNK_SHIFT];
    const at = wordAt(id);
    const tailLength = chunk?.[at + TAIL_LENGTH] ?? 0;
    if (!chunk || tailLength === 0 || span.versionEnd + tailLength > span.end) return false;
    this.#run(bytes, span, tailLength);
    const isSame = chunk[at + LOW] === this.#hash.low && chunk[at + HIGH] === this.#hash.high;
    if (!isSame) this.#hashedTail = tailLength;
    return isSame;
  }

  /**
   * Keeps the head of a changed object. If `isSame` was called, this must be the next call, for the same object.
   *
   * @param headEnd start of managedFields, or end of a metadata without them
   */
  set(id: number, bytes: Uint8Array, span: HeadSpan, headEnd: number): void {
    const tailLength = headEnd - span.versionEnd;
    if (this.#hashedTail !== tailLength) this.#run(bytes, span, tailLength);
    const chunk = (this.#chunks[id >>> CHUNK_SHIFT] ??= new Int32Array(CHUNK_IDS * WORDS));
    const at = wordAt(id);
    chunk[at + LOW] = this.#hash.low;
    chunk[at + HIGH] = this.#hash.high;
    chunk[at + TAIL_LENGTH] = tailLength;
    this.#hashedTail = 0;
  }

  /** Drops the head of an object, because the main thread has a different state of it. */
  delete(id: number): void {
    this.#hashedTail = 0;
    const chunk = this.#chunks[id >>> CHUNK_SHIFT];
    if (chunk) chunk[wordAt(id) + TAIL_LENGTH] = 0;
  }

  clear(): void {
    this.#chunks = [];
  }

  #run(bytes: Uint8Array, span: HeadSpan, tailLength: number): void {
    const hash = this.#hash;
    hash.begin();
    hash.word(span.versionStart - span.start);
    hash.word(tailLength);
    hash.span(bytes, span.start, span.versionStart);
    hash.span(bytes, span.versionEnd, span.versionEnd + tailLength);
    hash.end();
  }
}

function wordAt(id: number): number {
  return (id & (CHUNK_IDS - 1)) * WORDS;
}
