/**
 * The last state of each key of a list and the changes after it, by id: the version, and a fingerprint of the metadata.
 * The shard compares versions to drop an event that the server repeats, or sends after a newer event; such an event would
 * set the cache back. It compares fingerprints to see that a change did not touch the extracted fields.
 */
import { afterMember, skipFlatArray } from '../kube/json/skip.ts';
import { isOlderResourceVersion } from '../kube/resource-version.ts';
import { HalfSipHash } from '../shared/record/key-hash.ts';

/** Digits of 2^53 - 1. */
const DIGITS_MAX = 16;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const CLOSE_BRACE = 0x7d;

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

/** Location of an object, and of the token of its version, in a buffer. */
export interface HeadSpan {
  start: number;
  end: number;
  versionStart: number;
  versionEnd: number;
}

export class KeyStates {
  readonly #versions: VersionTable = new VersionTable();
  /** Fingerprints of the states that the main thread holds or will receive. */
  readonly #fingerprints: MetadataFingerprints = new MetadataFingerprints();

  /** Compares a version with the last version of the id. An opaque version that differs counts as newer. */
  orderOf(id: number, version: number | string): VersionOrder {
    return this.#versions.orderOf(id, version);
  }

  /** Keeps the version of an object's last state. @param version a number below 2^53, or any other text */
  put(id: number, version: number | string): void {
    this.#versions.set(id, version);
  }

  /** Returns whether the object's head equals the last head that was kept. */
  isHeadSame(id: number, bytes: Buffer, span: HeadSpan): boolean {
    return this.#fingerprints.isSame(id, bytes, span);
  }

  /**
   * Keeps the head of a changed object. If `isHeadSame` was called, this must be the next call, for the same object.
   *
   * @param headEnd start of managedFields, or end of a metadata without them
   */
  keepHead(id: number, bytes: Uint8Array, span: HeadSpan, headEnd: number): void {
    this.#fingerprints.set(id, bytes, span, headEnd);
  }

  /** Drops the head of an object, because the main thread's state of the object differs from it. */
  dropHead(id: number): void {
    this.#fingerprints.delete(id);
  }
}

const NUMBERS_MIN = 64;

/** Versions by id: a number (8 bytes a key), or text for opaque versions and versions from 2^53 on. */
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

/**
 * Fingerprint of each object's head at its last change. The head is the metadata before managedFields, or all metadata,
 * without the version; most changes are of status and managedFields only.
 *
 * ```
 *  {"metadata":{"name":"web-0","uid":"…","resourceVersion":"12345","creationTimestamp":…,"managedFields":[…
 *  └──────────── front ───────────────────────────────────┘       └──────────── tail ─────────────────┘
 * ```
 *
 * Each key takes 12 bytes: a hash of 64 bits and the length of the tail. A person who writes objects must not be able
 * to construct two heads with equal hashes, because a change of a label would be missed. Therefore the hash is
 * HalfSipHash-1-3 with a random key. By chance, one change in 2^64 is missed.
 */
class MetadataFingerprints {
  readonly #hash: HalfSipHash = new HalfSipHash();
  readonly #chunks: Int32Array[] = [];
  /** Tail length of the head that `isSame` has just refused; 0 if the last hash is not of such a head. */
  #hashedTail = 0;

  isSame(id: number, bytes: Buffer, span: HeadSpan): boolean {
    this.#hashedTail = 0;
    const chunk = this.#chunks[id >>> CHUNK_SHIFT];
    const at = wordAt(id);
    const tailLength = chunk?.[at + TAIL_LENGTH] ?? 0;
    if (!chunk || tailLength === 0 || span.versionEnd + tailLength > span.end) return false;
    this.#run(bytes, span, tailLength);
    const isSame = chunk[at + LOW] === this.#hash.low && chunk[at + HIGH] === this.#hash.high;
    if (isSame && isWholeHead(bytes, span.versionEnd + tailLength, span.end)) return true;
    this.#hashedTail = tailLength;
    return false;
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

  /** Drops the head of an object, because the main thread's state of the object differs from it. */
  delete(id: number): void {
    this.#hashedTail = 0;
    const chunk = this.#chunks[id >>> CHUNK_SHIFT];
    if (chunk) chunk[wordAt(id) + TAIL_LENGTH] = 0;
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

/** Returns whether metadata ends at `headEnd`, or behind managedFields that begin at `headEnd`. */
function isWholeHead(bytes: Buffer, headEnd: number, end: number): boolean {
  if (bytes[headEnd - 1] === CLOSE_BRACE) return true;
  const next = afterMember(bytes, skipFlatArray(bytes, headEnd, end), end);
  return next >= 0 && bytes[next] === CLOSE_BRACE;
}

function wordAt(id: number): number {
  return (id & (CHUNK_IDS - 1)) * WORDS;
}
