/**
 * What the head of every object was when it changed last, by id: all of its metadata before managedFields but the
 * version. As long as it stays the same, so does the projection, and most changes are of status and managedFields only.
 *
 * ```
 *  {"metadata":{"name":"web-0","uid":"…","resourceVersion":"12345","creationTimestamp":…,"managedFields":[…
 *  └──────────── front ───────────────────────────────────┘       └──────────── tail ─────────────────┘
 * ```
 *
 * Kept are a hash of 64 bits and the length of the tail, 12 bytes a key. Who writes objects must not be able to make two
 * heads of one hash, or a label would change unseen: hence HalfSipHash-1-3 under a random key. By chance it happens to one
 * change in 2^64.
 */
import { HalfSipHash } from './half-sip-hash.ts';

const WORDS = 3;
const LOW = 0;
const HIGH = 1;
const TAIL_LENGTH = 2;
/** Small: there may be hundreds of informers with a few objects each. */
const CHUNK_SHIFT = 10;
const CHUNK_IDS: number = 1 << CHUNK_SHIFT;

/** Where the head of one object lies. */
export interface HeadSpan {
  /** Where the object begins and ends. */
  start: number;
  end: number;
  /** The token of the version. */
  versionStart: number;
  versionEnd: number;
}

/** After so many comparisons it is judged whether they pay: when at least one in PAYING was the same. */
const TRIAL_COMPARISONS = 256;
const PAYING = 8;
/** Then so many times as many objects as were hashed are not. */
const PAUSE_FACTOR = 8;

export class HeadHashes {
  readonly #hash: HalfSipHash = new HalfSipHash();
  #chunks: Int32Array[] = [];
  /** Since the last judgement. */
  #hashed = 0;
  #comparisons = 0;
  #matches = 0;
  /** Objects that are still to pass by unseen. */
  #pause = 0;
  /** The hash is that of the object that was found to be another, with a tail of this length; 0 when it is of none. */
  #hashedTail = 0;

  /** Whether the object's head is that which was kept last. */
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
   * Of an object that is another: if `isSame` was asked, of this one.
   *
   * @param headEnd where managedFields begin
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

  /** What the main thread has of this object is not what was kept. */
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
