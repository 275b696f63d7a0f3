/**
 * Samples of objects, and where in them which bytes are. Objects of one kind are packed against it: what is like in a
 * sample is a reference, the rest is written out (docs/decisions/0018). Samples are added and never changed, so what was
 * packed before stays readable.
 */

/** Memory of one thread, as bytes and as words. */
export interface Viewed {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** So many bytes count. */
  length: number;
}

export function allocateViewed(bytesMax: number): Viewed {
  const bytes = Buffer.allocUnsafeSlow(bytesMax);
  return { bytes, view: new DataView(bytes.buffer), length: 0 };
}

/** Of samples: a dozen pods. */
export const DICTIONARY_BYTES_MAX: number = 2 ** 16;
/** What is found is at least so long. */
export const SEED_BYTES = 8;
/** Every fourth place of a sample can be found; who finds it looks at what is before it, too. */
const STEP_BITS = 2;
const INDEX_BITS = 14;

/** Of one dictionary, however little is in it. */
export const DICTIONARY_HELD_BYTES: number = DICTIONARY_BYTES_MAX + 2 * 2 ** INDEX_BITS;

export class Dictionary implements Viewed {
  readonly bytes: Buffer;
  readonly view: DataView;
  length = 0;
  /** By the hash of eight bytes: one more than the number of the latest step that has them. */
  readonly #steps: Uint16Array = new Uint16Array(2 ** INDEX_BITS);
  #nextStep = 0;
  /** What the objects that are packed against it save; whoever packs counts. */
  savedBytes = 0;
  /** It takes more than it saves: whoever is packed against it is being unpacked. */
  isDissolved = false;

  constructor() {
    ({ bytes: this.bytes, view: this.view } = allocateViewed(DICTIONARY_BYTES_MAX));
  }

  hasRoom(bytes: number): boolean {
    return this.length + bytes <= DICTIONARY_BYTES_MAX;
  }

  /** All of `sample`; there must be room. */
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

  /** Where these eight bytes may be; below 0 if they are not known. */
  find(low: number, high: number): number {
    return ((this.#steps[hashOf(low, high)] ?? 0) - 1) << STEP_BITS;
  }
}

function hashOf(low: number, high: number): number {
  return (Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca77)) >>> (32 - INDEX_BITS);
}
