/**
 * Packs objects that did not change for a while against samples of their kind: 5 KB of a pod become 0.4 KB
 * (docs/decisions/0018). A packed row reads as before: its bytes are unpacked for the time of the read.
 *
 * Samples are stored in dictionaries. An object unlike every sample becomes a sample and takes as much memory as
 * before, so dictionaries of changed or deleted objects must not stay. A dictionary that takes more than it saves is
 * dissolved: the rows are unpacked, and later packed against another dictionary.
 */
import { assert } from '../../base/errors.ts';
import { DICTIONARY_HELD_BYTES, Dictionary, allocateViewed } from '../../shared/pack/pack.ts';
import { PACK_SLACK_BYTES, pack, unpack } from '../../shared/pack/pack.ts';
import type { Viewed, ViewedMemory } from '../../shared/pack/pack.ts';
import { OBJECT_BYTES_MAX, Sampler, TOTAL_BYTES_MIN, copyToPack } from '../../shared/pack/sampler.ts';
import { NO_ROW } from './columns.ts';
import type { EntryTable } from './entry-table.ts';
import { EntryFlag } from './entry.ts';
import type { ObjectBytes } from './entry.ts';
import type { BytesReaders, SlabMemory } from './store-memory.ts';
import { Slabs } from './slabs.ts';
import type { Slab } from './slabs.ts';

/** Waste of dictionaries at which they are dissolved: a share of the packed bytes, plus a constant. */
const WASTED_SHARE_MAX = 1 / 8;
const WASTED_BYTES_MIN = 2 ** 20;
/** Rounds without packing after no object resembled another: finding that out costs more than packing. */
const REST_ROUNDS = 32;

export interface PackedObjectsOptions {
  readonly table: EntryTable;
  readonly loose: Slabs;
  readonly memory?: SlabMemory | undefined;
  readonly totalBytesMin?: number | undefined;
  readonly wastedBytesMin?: number | undefined;
  /** Bytes of objects as received above which a changed object is packed at once. Default: never. */
  readonly looseBytesMax?: number | undefined;
  readonly readers?: (() => BytesReaders | undefined) | undefined;
}

/** Scratch memory for a step; all steps run on the same thread. */
const packed: Buffer = Buffer.allocUnsafeSlow(OBJECT_BYTES_MAX + PACK_SLACK_BYTES);

/** The last two objects that were unpacked for a read: a caller may compare them. */
const unpackedObjects: (ViewedMemory | undefined)[] = [];
let unpackedReads = 0;

/** Returns memory for an unpacked object, valid until the call after the next. */
function memoryForRead(): ViewedMemory {
  const at = ++unpackedReads & 1;
  return (unpackedObjects[at] ??= allocateViewed(OBJECT_BYTES_MAX));
}

export class PackedObjects {
  readonly slabs: Slabs;
  readonly #table: EntryTable;
  readonly #loose: Slabs;
  readonly #totalBytesMin: number;
  readonly #wastedBytesMin: number;
  /** Bytes of objects as received above which a changed object is to be packed at once. */
  readonly looseBytesMax: number;
  readonly #readers: () => BytesReaders | undefined;
  /** Dictionaries with packed rows by number, including dissolved dictionaries, whose rows still save memory. */
  readonly #dictionaries: Map<number, Dictionary> = new Map();
  /** The samples of each shard, against which it packs items of lists. They change with samples of the shard only. */
  readonly #ofShards: Map<number, Dictionary> = new Map();
  readonly #sampler: Sampler = new Sampler(() => this.#newDictionary());
  #created = 0;
  #rests = 0;
  /** Whether the round in progress changed any row. */
  #isActive = false;

  constructor(options: PackedObjectsOptions) {
    this.#table = options.table;
    this.#loose = options.loose;
    const { table, memory, readers = () => undefined } = options;
    const moved = (row: number, former: number): void => {
      this.dictionaryOf(former).savedBytes += this.#savedBy(former);
      readers()?.moved(row, former);
    };
    this.slabs = new Slabs({ table, memory, readers, moved });
    this.#readers = readers;
    this.#totalBytesMin = options.totalBytesMin ?? TOTAL_BYTES_MIN;
    this.#wastedBytesMin = options.wastedBytesMin ?? WASTED_BYTES_MIN;
    this.looseBytesMax = options.looseBytesMax ?? Infinity;
  }

  get heldBytes(): number {
    return this.slabs.heldBytes + this.#dictionaries.size * DICTIONARY_HELD_BYTES;
  }

  /** Dictionaries with packed rows. */
  get dictionaries(): Iterable<Dictionary> {
    return this.#dictionaries.values();
  }

  /** Returns the object of a packed row, valid until the read after the next. */
  unpacked(row: number): Buffer {
    const { bytes } = this.slabs.slabOf(row);
    const [start, length] = [this.#table.offsetOf(row), this.#table.storedBytesOf(row)];
    return unpackedObject(this.dictionaryOf(row), { bytes, start, length }, this.#table.lengthOf(row));
  }

  /** Returns the samples of a shard that has sent a sample. */
  samplesOf(shard: number): Dictionary {
    const samples = this.#ofShards.get(shard);
    assert(samples !== undefined, 'a packed item came before the first sample', shard);
    return samples;
  }

  /** Adds the next sample of a shard, as the shard does: both have equal samples at equal places. */
  addSample(shard: number, { bytes, start, length }: Readonly<ObjectBytes>): void {
    const sample = copyToPack(bytes, start, length);
    assert(sample !== undefined, 'a sample of a length that is not packed', length);
    const before = this.#ofShards.get(shard);
    const samples = before?.hasRoom(length) ? before : this.#newDictionary();
    samples.add(sample);
    this.#ofShards.set(shard, samples);
    if (before) this.#dropUnused(before);
  }

  /** Forgets the samples of all shards, after they have ended. */
  forgetShards(): void {
    const ended = [...this.#ofShards.values()];
    this.#ofShards.clear();
    for (const samples of ended) this.#dropUnused(samples);
  }

  /** Stores the packed bytes of a row that has its length and no bytes. */
  put(row: number, dictionary: Dictionary, { bytes, start, length }: Readonly<ObjectBytes>): void {
    this.slabs.put(row, bytes, start, length);
    this.#table.setDictionary(row, dictionary.number);
    this.#table.setFlag(row, EntryFlag.Packed);
    dictionary.savedBytes += this.#savedBy(row);
    // The map lacks a dictionary while no row is packed against it.
    this.#dictionaries.set(dictionary.number, dictionary);
  }

  /** Packs an object that has just changed, because `looseBytesMax` is exceeded. */
  packAtOnce(row: number): void {
    if (!this.#isFixed(row)) this.#pack(row);
  }

  /** Returns whether the row is packed against the same samples to the same bytes. */
  has(row: number, dictionary: Dictionary, packedBytes: Readonly<ObjectBytes>): boolean {
    const table = this.#table;
    if (!table.hasFlag(row, EntryFlag.Packed) || table.dictionaryOf(row) !== dictionary.number) return false;
    const { bytes } = this.slabs.slabOf(row);
    return hasSameBytes(packedBytes, { bytes, start: table.offsetOf(row), length: table.storedBytesOf(row) });
  }

  release(row: number): void {
    this.#save(row, -this.#savedBy(row));
    this.slabs.release(row);
    this.#table.setFlag(row, EntryFlag.Packed, false);
  }

  /**
   * Packs the objects that existed in the previous round, one in each step. Newer objects wait for the next round, so
   * an object that changes all the time is not packed.
   *
   * @returns whether the next round has work even if no object changes in the meantime
   */
  *round(): Generator<void, boolean, void> {
    this.#isActive = false;
    yield* this.#compact();
    yield* this.#dissolve();
    if (this.#loose.liveBytes >= this.#totalBytesMin) {
      if (this.#rests === 0) yield* this.#packAged();
      else {
        this.#rests--;
        this.#isActive = true;
      }
    }
    return this.#isActive || this.#loose.isBlocked || this.slabs.isBlocked;
  }

  *#packAged(): Generator<void, void, void> {
    for (const slab of drained(this.#loose.list())) {
      for (const row of this.#loose.rowsIn(slab)) {
        if (this.#table.hasFlag(row, EntryFlag.Unpackable)) continue;
        if (this.#isFixed(row)) continue;
        if (this.#table.hasFlag(row, EntryFlag.Aged)) {
          this.#pack(row);
          if (this.#rests > 0) return;
          yield* this.#tidied();
        } else {
          this.#table.setFlag(row, EntryFlag.Aged);
          this.#isActive = true;
        }
      }
      yield;
    }
  }

  #pack(row: number): void {
    const dictionary = this.#dictionaries.get(this.#table.dictionaryOf(row));
    this.#isActive = true;
    const { bytes } = this.#loose.slabOf(row);
    const object = copyToPack(bytes, this.#table.offsetOf(row), this.#table.lengthOf(row));
    const isLikeBefore = dictionary && !dictionary.isDissolved && dictionary !== this.#sampler.current;
    // The previous state was packed against this dictionary, so a sibling or an earlier state is among the samples.
    const packedBytes = object && isLikeBefore ? pack(dictionary, object, packed, object.length >> 2) : -1;
    if (dictionary && packedBytes >= 0) this.#keep(row, dictionary, packedBytes);
    else if (!object) this.#giveUp(row);
    else if (this.#rests === 0) this.#packAgainstCurrent(row, object);
  }

  #packAgainstCurrent(row: number, object: Viewed): void {
    const before = this.#sampler.current;
    const packedBytes = this.#sampler.pack(object, packed);
    const { current, isFruitless } = this.#sampler;
    if (isFruitless) this.#rests = REST_ROUNDS;
    if (!current || packedBytes < 0) this.#giveUp(row);
    else this.#keep(row, current, packedBytes);
    if (before && before !== current) this.#dropUnused(before);
  }

  #giveUp(row: number): void {
    this.#table.setDictionary(row, 0);
    this.#table.setFlag(row, EntryFlag.Unpackable);
  }

  #keep(row: number, dictionary: Dictionary, packedBytes: number): void {
    const former = this.#loose.releaseChunk(row);
    this.put(row, dictionary, { bytes: packed, start: 0, length: packedBytes });
    if (former !== NO_ROW) this.#readers()?.moved(row, former);
  }

  /** Changes the bytes that the row's dictionary saves. The dictionary ends with the last of them. */
  #save(row: number, bytes: number): void {
    const dictionary = this.dictionaryOf(row);
    dictionary.savedBytes += bytes;
    if (dictionary.savedBytes > 0) return;
    this.#dictionaries.delete(dictionary.number);
    this.#dropUnused(dictionary);
  }

  /** Drops a dictionary if no row is packed against it and none will be. */
  #dropUnused(dictionary: Dictionary): void {
    if (this.#dictionaries.has(dictionary.number) || this.#isOpen(dictionary)) return;
    this.slabs.memory.dropped(dictionary.bytes.length);
    if (dictionary.isShared) this.#readers()?.dropped(dictionary);
  }

  /**
   * Returns whether the row must stay where it is: a former place, or, until a later round, a row read by a thread far
   * behind.
   */
  #isFixed(row: number): boolean {
    const flags = this.#table.flagsOf(row);
    if (flags & EntryFlag.Moved) return true;
    const isBlocked = (flags & EntryFlag.Exported) !== 0 && this.#readers()?.mayMove() === false;
    if (isBlocked) this.#isActive = true;
    return isBlocked;
  }

  #newDictionary(): Dictionary {
    return new Dictionary(++this.#created);
  }

  /** Returns the dictionary of a packed row. */
  dictionaryOf(row: number): Dictionary {
    const dictionary = this.#dictionaries.get(this.#table.dictionaryOf(row));
    assert(dictionary !== undefined && this.#table.hasFlag(row, EntryFlag.Packed), 'not packed', row);
    return dictionary;
  }

  #savedBy(row: number): number {
    return this.#table.lengthOf(row) - this.#table.storedBytesOf(row);
  }

  /**
   * Unpacks the rows of dissolved dictionaries. Slabs may be compacted during the walk, so a row can move to a slab
   * that the walk already passed. In that case the dictionary stays in the map, and the next round walks again.
   */
  *#dissolve(): Generator<void, void, void> {
    if (!this.#chooseDissolved()) return;
    for (const slab of drained(this.slabs.list())) {
      for (const row of this.slabs.rowsIn(slab)) {
        if (!this.dictionaryOf(row).isDissolved || this.#isFixed(row)) continue;
        this.#unpack(row);
        yield* this.#tidied();
      }
      yield;
    }
  }

  /**
   * Dissolves the dictionaries that take more than they save, if together they waste too much.
   *
   * @returns whether a dissolved dictionary is left, of this round or an earlier round
   */
  #chooseDissolved(): boolean {
    const dictionaries = [...this.#dictionaries.values()];
    const wasteful = dictionaries.filter(
      (dictionary) => !this.#isOpen(dictionary) && !dictionary.isDissolved && wasteOf(dictionary) > 0,
    );
    const wastedBytes = wasteful.reduce((sum, dictionary) => sum + wasteOf(dictionary), 0);
    if (wastedBytes > this.slabs.heldBytes * WASTED_SHARE_MAX + this.#wastedBytesMin) {
      for (const dictionary of wasteful) dictionary.isDissolved = true;
    }
    return dictionaries.some(({ isDissolved }) => isDissolved);
  }

  /** Returns whether further objects may be packed against the dictionary. */
  #isOpen(dictionary: Dictionary): boolean {
    return dictionary === this.#sampler.current || [...this.#ofShards.values()].includes(dictionary);
  }

  /** Ends a step, and runs the compactions that became necessary. */
  *#tidied(): Generator<void, void, void> {
    yield;
    yield* this.#compact();
  }

  *#compact(): Generator<void, void, void> {
    for (const slabs of [this.#loose, this.slabs]) {
      while (slabs.hasCompaction) {
        slabs.compact();
        yield;
      }
    }
  }

  /** Ends the packed place of a row. Returns the former row, if any, which takes over the saved bytes. */
  #releasePacked(row: number): number {
    const isExported = this.#table.hasFlag(row, EntryFlag.Exported);
    if (!isExported) this.#save(row, -this.#savedBy(row));
    const former = this.slabs.releaseChunk(row);
    this.#table.setFlag(row, EntryFlag.Packed, false);
    return former;
  }

  #unpack(row: number): void {
    const bytes = this.unpacked(row);
    this.#isActive = true;
    const former = this.#releasePacked(row);
    this.#table.setDictionary(row, 0);
    this.#loose.put(row, bytes, 0, this.#table.lengthOf(row));
    if (former !== NO_ROW) this.#readers()?.moved(row, former);
  }
}

/**
 * Yields the slabs and drops each from the array: a round takes seconds, and an emptied slab must be freed before the
 * end.
 */
function* drained(slabs: Slab[]): Generator<Slab, void, void> {
  slabs.reverse();
  for (let slab = slabs.pop(); slab; slab = slabs.pop()) yield slab;
}

function wasteOf({ savedBytes, length }: Dictionary): number {
  return length - savedBytes;
}

/** Returns the object with these packed bytes, valid until the read after the next. */
export function unpackedObject(
  dictionary: Readonly<ViewedMemory>,
  { bytes, start, length }: Readonly<ObjectBytes>,
  objectLength: number,
): Buffer {
  const object = memoryForRead();
  const unpackedBytes = unpack(dictionary, bytes, start, start + length, object);
  assert(unpackedBytes === objectLength, 'unpacked to another length', unpackedBytes);
  return object.bytes;
}

export function hasSameBytes(a: Readonly<ObjectBytes>, b: Readonly<ObjectBytes>): boolean {
  if (a.length !== b.length) return false;
  return a.bytes.compare(b.bytes, b.start, b.start + b.length, a.start, a.start + a.length) === 0;
}
