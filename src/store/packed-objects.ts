/**
 * Objects that have not changed for a while are packed against samples of their kind: of 5 KB a pod 0.4 are left
 * (docs/decisions/0018). Whoever reads one does not notice: an entry says where its bytes are, and they are unpacked for the
 * time of the read.
 *
 * What is sampled lies in dictionaries. An object that is not like any sample becomes one, and takes as much as before; so
 * dictionaries of objects that changed or went away must not stay. One that takes more than it saves is dissolved: whoever
 * is packed against it is unpacked, to be packed against another.
 */
import { assert } from '../errors.ts';
import { copyBytes } from '../log/copy-bytes.ts';
import {
  DICTIONARY_BYTES_MAX,
  DICTIONARY_HELD_BYTES,
  Dictionary,
  allocateViewed,
} from '../packing/dictionary.ts';
import { PACK_SLACK_BYTES, pack, unpack } from '../packing/pack.ts';
import { Entry, EntryFlag } from './entry.ts';
import type { SlabMemory } from './slab-memory.ts';
import { Slabs } from './slabs.ts';
import type { Slab } from './slabs.ts';

/** Shorter ones gain nothing, longer ones have nothing like them. */
const OBJECT_BYTES_MIN = 128;
const OBJECT_BYTES_MAX = 2 ** 16;
const SAMPLE_BYTES_MAX: number = DICTIONARY_BYTES_MAX / 2;
/** An informer with less than this in total is left alone. */
const TOTAL_BYTES_MIN: number = 2 ** 18;
/** A dictionary that is full has paid when it saved so many times what it takes: its successor samples as eagerly. */
const PAID_TIMES = 3;
/** Dictionaries may waste so much before they are dissolved: of what is packed, and besides. */
const WASTED_SHARE_MAX = 1 / 8;
const WASTED_BYTES_MIN = 2 ** 20;
/** So many rounds nothing is packed when nothing is like anything: to find out costs more than to pack. */
const REST_ROUNDS = 32;

export interface PackedObjectsOptions {
  /** Objects as they came. */
  readonly loose: Slabs;
  readonly memory?: SlabMemory | undefined;
  /** Default `TOTAL_BYTES_MIN`. */
  readonly totalBytesMin?: number | undefined;
  /** Default `WASTED_BYTES_MIN`. */
  readonly wastedBytesMin?: number | undefined;
}

/** For the time of one step; one thread does all of this. */
const plain = allocateViewed(OBJECT_BYTES_MAX);
const packed: Buffer = Buffer.allocUnsafeSlow(OBJECT_BYTES_MAX + PACK_SLACK_BYTES);

export class PackedObjects {
  readonly slabs: Slabs;
  readonly #loose: Slabs;
  readonly #totalBytesMin: number;
  readonly #wastedBytesMin: number;
  /** All that somebody is packed against. */
  readonly #dictionaries: Set<Dictionary> = new Set();
  /** The latest: the others are full. */
  #current: Dictionary | undefined;
  #rests = 0;

  constructor(options: PackedObjectsOptions) {
    this.#loose = options.loose;
    this.slabs = new Slabs(options.memory);
    this.#totalBytesMin = options.totalBytesMin ?? TOTAL_BYTES_MIN;
    this.#wastedBytesMin = options.wastedBytesMin ?? WASTED_BYTES_MIN;
  }

  /** Memory held, that of the dictionaries included. */
  get heldBytes(): number {
    return this.slabs.heldBytes + this.#dictionaries.size * DICTIONARY_HELD_BYTES;
  }

  /** The object of a packed entry, good until the next read. */
  unpacked(entry: Entry): Buffer {
    const { slab, dictionary, offset, storedBytes } = entry;
    assert(slab !== undefined && dictionary !== undefined, 'not packed', entry.key);
    const length = unpack(dictionary, slab.bytes, offset, offset + storedBytes, plain.bytes);
    assert(length === entry.length, 'unpacked to another length', entry.key);
    return plain.bytes;
  }

  /** Gives the bytes of a packed entry back. */
  release(entry: Entry): void {
    this.slabs.release(entry);
    if (entry.dictionary) entry.dictionary.savedBytes -= entry.length - entry.storedBytes;
    entry.flags &= ~EntryFlag.Packed;
  }

  /**
   * Packs what is there since the round before; a step each. Who has come since waits for the next one, so what
   * changes all the time is not packed.
   */
  *round(): Generator<void, void, void> {
    yield* this.#dissolve();
    if (this.#loose.liveBytes < this.#totalBytesMin) return;
    if (this.#rests > 0) {
      this.#rests--;
      return;
    }
    for (const slab of drained(this.#loose.list())) {
      for (const entry of slab.occupants) {
        if (!(entry instanceof Entry) || entry.slab !== slab || entry.flags & EntryFlag.Unpackable) continue;
        if (entry.flags & EntryFlag.Aged) {
          this.#pack(entry);
          if (this.#rests > 0) return;
          yield* this.#tidied();
        } else {
          entry.flags |= EntryFlag.Aged;
        }
      }
      yield;
    }
  }

  #pack(entry: Entry): void {
    const { slab, offset, length, dictionary } = entry;
    entry.dictionary = undefined;
    if (slab === undefined || length < OBJECT_BYTES_MIN || length > OBJECT_BYTES_MAX) {
      entry.flags |= EntryFlag.Unpackable;
      return;
    }
    copyBytes(slab.bytes, offset, offset + length, plain.bytes, 0);
    plain.length = length;
    const isLikeBefore = dictionary !== undefined && !dictionary.isDissolved && dictionary !== this.#current;
    // The state before was packed against it: a sibling, or an earlier state, is among its samples.
    const packedBytes = isLikeBefore ? pack(dictionary, plain, packed, length >> 2) : -1;
    if (dictionary && packedBytes >= 0) this.#keep(entry, dictionary, packedBytes);
    else this.#packAgainstCurrent(entry);
  }

  #packAgainstCurrent(entry: Entry): void {
    let dictionary = this.#current ?? this.#next();
    let packedBytes = pack(dictionary, plain, packed, plain.length >> 1);
    const isLikeNothing = packedBytes < 0;
    const isWanted = (isLikeNothing || packedBytes > plain.length >> 2) && plain.length <= SAMPLE_BYTES_MAX;
    if (isWanted && !dictionary.hasRoom(plain.length) && (isLikeNothing || hasPaid(dictionary))) {
      if (!hasPaid(dictionary)) this.#rests = REST_ROUNDS;
      dictionary = this.#next();
    }
    if (isWanted && dictionary.hasRoom(plain.length)) {
      dictionary.add(plain);
      packedBytes = pack(dictionary, plain, packed, plain.length >> 1);
    }
    if (packedBytes < 0) entry.flags |= EntryFlag.Unpackable;
    else this.#keep(entry, dictionary, packedBytes);
  }

  #keep(entry: Entry, dictionary: Dictionary, packedBytes: number): void {
    this.#loose.release(entry);
    this.slabs.put(entry, packed, 0, packedBytes);
    entry.dictionary = dictionary;
    entry.flags |= EntryFlag.Packed;
    dictionary.savedBytes += entry.length - packedBytes;
    // It may have been nobody's for a while.
    this.#dictionaries.add(dictionary);
  }

  #next(): Dictionary {
    return (this.#current = new Dictionary());
  }

  /** Unpacks what is packed against dictionaries that take more than they save, when they take too much together. */
  *#dissolve(): Generator<void, void, void> {
    let wastedBytes = 0;
    for (const dictionary of this.#dictionaries) {
      if (dictionary.savedBytes === 0) this.#dictionaries.delete(dictionary);
      else if (dictionary !== this.#current) wastedBytes += Math.max(0, wasteOf(dictionary));
    }
    if (wastedBytes <= this.slabs.heldBytes * WASTED_SHARE_MAX + this.#wastedBytesMin) return;
    for (const dictionary of this.#dictionaries) {
      if (dictionary === this.#current || wasteOf(dictionary) <= 0) continue;
      dictionary.isDissolved = true;
      this.#dictionaries.delete(dictionary);
    }
    for (const slab of drained(this.slabs.list())) {
      for (const entry of slab.occupants) {
        if (!(entry instanceof Entry) || entry.slab !== slab || !entry.dictionary?.isDissolved) continue;
        this.#unpack(entry);
        yield* this.#tidied();
      }
      yield;
    }
  }

  /** One step is done; those that it makes necessary follow. */
  *#tidied(): Generator<void, void, void> {
    yield;
    for (const slabs of [this.#loose, this.slabs]) {
      while (slabs.hasCompaction) {
        slabs.compact();
        yield;
      }
    }
  }

  #unpack(entry: Entry): void {
    const bytes = this.unpacked(entry);
    this.release(entry);
    entry.dictionary = undefined;
    this.#loose.put(entry, bytes, 0, entry.length);
  }
}

/** Each forgotten when it was seen: a round takes seconds, and slabs that were emptied are to go. */
function* drained(slabs: Slab[]): Generator<Slab, void, void> {
  slabs.reverse();
  for (let slab = slabs.pop(); slab; slab = slabs.pop()) yield slab;
}

function hasPaid({ savedBytes, length }: Dictionary): boolean {
  return savedBytes >= PAID_TIMES * length;
}

function wasteOf({ savedBytes, length }: Dictionary): number {
  return length - savedBytes;
}
