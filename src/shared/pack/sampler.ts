/**
 * Packs objects of an informer against samples that it chooses among them. An object unlike every sample becomes a
 * sample. Shards pack the items of lists in this way, and the main thread packs objects that did not change for a while
 * (docs/decisions/0018).
 */
import { copyBytes } from '../log/log.ts';
import { DICTIONARY_BYTES_MAX, Dictionary, allocateViewed, pack } from './pack.ts';
import type { Viewed } from './pack.ts';

/** Shorter objects gain too little, longer objects resemble no sample. */
const OBJECT_BYTES_MIN = 128;
export const OBJECT_BYTES_MAX: number = 2 ** 16;
const SAMPLE_BYTES_MAX: number = DICTIONARY_BYTES_MAX / 2;
/** An informer whose objects have less than this in total is not packed. */
export const TOTAL_BYTES_MIN: number = 2 ** 18;
/** A full dictionary that saved this many times its size paid off: the next dictionary may take samples as easily. */
const PAID_TIMES = 3;

/** Scratch memory for a step; all steps run on the same thread. */
const object: Viewed = allocateViewed(OBJECT_BYTES_MAX);

/** Returns a copy that is valid until the next call; undefined if objects of this length are not packed. */
export function copyToPack(source: Buffer, start: number, length: number): Viewed | undefined {
  if (length < OBJECT_BYTES_MIN || length > OBJECT_BYTES_MAX) return undefined;
  copyBytes(source, start, start + length, object.bytes, 0);
  object.length = length;
  return object;
}

export class Sampler {
  readonly #begin: () => Dictionary;
  #current: Dictionary | undefined;
  /** Whether the last object has become a sample. */
  hasAdded = false;
  /** Whether a dictionary was full before it had paid off: the objects do not resemble each other. */
  isFruitless = false;

  constructor(begin: () => Dictionary) {
    this.#begin = begin;
  }

  /** The dictionary that the last object was packed against; undefined before the first object. */
  get current(): Dictionary | undefined {
    return this.#current;
  }

  /** Packs into `target`, which has room for half of the object; returns the packed length, or -1 if it is more. */
  pack(source: Viewed, target: Buffer): number {
    const { length } = source;
    let dictionary = (this.#current ??= this.#begin());
    let packedBytes = pack(dictionary, source, target, length >> 1);
    const isLikeNothing = packedBytes < 0;
    const isWanted = (isLikeNothing || packedBytes > length >> 2) && length <= SAMPLE_BYTES_MAX;
    const isFull = isWanted && !dictionary.hasRoom(length);
    const isPaid = isFull && hasPaid(dictionary);
    this.isFruitless = isFull && isLikeNothing && !isPaid;
    if (this.isFruitless || isPaid) dictionary = this.#current = this.#begin();
    this.hasAdded = isWanted && dictionary.hasRoom(length);
    if (this.hasAdded) {
      dictionary.add(source);
      packedBytes = pack(dictionary, source, target, length >> 1);
    }
    return packedBytes;
  }
}

function hasPaid({ savedBytes, length }: Dictionary): boolean {
  return savedBytes >= PAID_TIMES * length;
}
