/**
 * Samples of objects, and an index from their bytes to their places. Objects of one kind are packed against it: bytes
 * found in a sample become a reference, the others are written out (docs/decisions/0018). Samples are added and never
 * changed, so earlier packed bytes stay readable.
 */

/** Memory of one thread, readable as bytes and as words. */
export interface Viewed {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Number of valid bytes. */
  length: number;
}

export function allocateViewed(bytesMax: number): Viewed {
  const bytes = Buffer.allocUnsafeSlow(bytesMax);
  return { bytes, view: new DataView(bytes.buffer), length: 0 };
}

/** Bytes of samples: a dozen pods. */
export const DICTIONARY_BYTES_MAX: number = 2 ** 16;
/** Minimum length of a match. */
export const SEED_BYTES = 8;
/** Every fourth place of a sample is in the index; a match is also extended backwards. */
const STEP_BITS = 2;
const INDEX_BITS = 14;

/** Bytes of memory of one dictionary, however full it is. */
export const DICTIONARY_HELD_BYTES: number = DICTIONARY_BYTES_MAX + 2 * 2 ** INDEX_BITS;

export class Dictionary implements Viewed {
  readonly bytes: Buffer;
  readonly view: DataView;
  length = 0;
  /** Steps by the hash of eight bytes: the number of the latest step with them, plus one. */
  readonly #steps: Uint16Array = new Uint16Array(2 ** INDEX_BITS);
  #nextStep = 0;
  /** Bytes that its packed entries save; the caller who packs counts them. */
  savedBytes = 0;
  /** True when it takes more than it saves: its packed entries are unpacked. */
  isDissolved = false;

  constructor() {
    ({ bytes: this.bytes, view: this.view } = allocateViewed(DICTIONARY_BYTES_MAX));
  }

  hasRoom(bytes: number): boolean {
    return this.length + bytes <= DICTIONARY_BYTES_MAX;
  }

  /** Adds all of `sample`; there must be room. */
  add({ bytes, length }: Viewed): void {
    bytes.copy(this.bytes, this.length, 0, length);
    this.length += length;
    const { view } = this;
    for (;;) {
      const at = this.#nextStep << STEP_BITS;
      if (at + SEED_BYTES > this.length) return;
      this.#steps[hashOf(view.getInt32(at, true), view.getInt32(at + 4, true))] = ++this.#nextStep;
    }
  }

  /** Returns the place where these eight bytes may be; below 0 if they are not in the index. */
  find(low: number, high: number): number {
    return ((this.#steps[hashOf(low, high)] ?? 0) - 1) << STEP_BITS;
  }
}

function hashOf(low: number, high: number): number {
  return (Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca77)) >>> (32 - INDEX_BITS);
}
