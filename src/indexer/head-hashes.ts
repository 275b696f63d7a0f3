/**
 * Hash of each object's head at its last change, by id. The head is all metadata before managedFields, without the
 * version. While the head is unchanged, so are the extracted fields; most changes are of status and managedFields only.
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
import { HalfSipHash } from '../shared/record/half-sip-hash.ts';

const WORDS = 3;
const LOW = 0;
const HIGH = 1;
const TAIL_LENGTH = 2;
/** Small, because there may be hundreds of informers with a few objects each. */
const CHUNK_SHIFT = 10;
const CHUNK_IDS: number = 1 << CHUNK_SHIFT;

/** Place of one object's head in a buffer. */
export interface HeadSpan {
  /** Start and end of the object. */
  start: number;
  end: number;
  /** Start and end of the version's token. */
  versionStart: number;
  versionEnd: number;
}

/** Comparisons after which the hashing is judged: it pays if at least one in PAYING found the same head. */
const TRIAL_COMPARISONS = 256;
const PAYING = 8;
/** If hashing does not pay, objects to skip for each object that was hashed. */
const PAUSE_FACTOR = 8;

export class HeadHashes {
  readonly #hash: HalfSipHash = new HalfSipHash();
  #chunks: Int32Array[] = [];
  /** Counts since the last judgement. */
  #hashed = 0;
  #comparisons = 0;
  #matches = 0;
  /** Objects that are still to be skipped. */
  #pause = 0;
  /** Tail length of the different head that `isSame` has just hashed; 0 when the hash is of no such head. */
  #hashedTail = 0;

  /** Returns whether the object's head equals the one that was kept last. */
  isSame(id: number, bytes: Uint8Array, span: HeadSpan): boolean {
    this.#hashedTail = 0;
    const chunk = this.#chunks[id >>> CHUNK_SHIFT];
    const at = wordAt(id);
    const tailLength = chunk?.[at + TAIL_LENGTH] ?? 0;
    if (!chunk || tailLength === 0 || span.versionEnd + tailLength > span.end) return false;
    this.#run(bytes, span, tailLength);
    const isSame = chunk[at + LOW] === this.#hash.low && chunk[at + HIGH] === this.#hash.high;
    this.#judge(isSame);
    if (!isSame) this.#hashedTail = tailLength;
    return isSame;
  }

  /**
   * Stores the head of a changed object. If `isSame` was called, this must be the next call, for the same object.
   *
   * @param headEnd start of managedFields
   */
  keep(id: number, bytes: Uint8Array, span: HeadSpan, headEnd: number): void {
    if (this.#pause > 0) {
      this.#pause--;
      this.forget(id);
      return;
    }
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
  forget(id: number): void {
    this.#hashedTail = 0;
    const chunk = this.#chunks[id >>> CHUNK_SHIFT];
    if (chunk) chunk[wordAt(id) + TAIL_LENGTH] = 0;
  }

  forgetAll(): void {
    this.#chunks = [];
  }

  #judge(isSame: boolean): void {
    if (isSame) this.#matches++;
    if (++this.#comparisons < TRIAL_COMPARISONS) return;
    if (this.#matches * PAYING < this.#comparisons) this.#pause = this.#hashed * PAUSE_FACTOR;
    this.#hashed = 0;
    this.#comparisons = 0;
    this.#matches = 0;
  }

  #run(bytes: Uint8Array, span: HeadSpan, tailLength: number): void {
    const hash = this.#hash;
    hash.begin();
    hash.word(span.versionStart - span.start);
    hash.word(tailLength);
    hash.span(bytes, span.start, span.versionStart);
    hash.span(bytes, span.versionEnd, span.versionEnd + tailLength);
    hash.end();
    this.#hashed++;
  }
}

function wordAt(id: number): number {
  return (id & (CHUNK_IDS - 1)) * WORDS;
}
