/**
 * Memory and work that the stores of all informers on the same threads share: parsed objects, the memory of slabs, and
 * rounds of packing.
 */
import type { Clock } from '../../base/clock.ts';
import { TOTAL_BYTES_MIN } from '../../shared/pack/sampler.ts';
import { WORTH_BYTES_MIN, collectGarbage } from '../../shared/forgotten-memory.ts';
import { DecodedCache } from './decoded-cache.ts';

export interface StoreMemoryOptions {
  /** Heap bytes of parsed objects that are cached. */
  readonly decodedCacheBytes: number;
  /** Infinity: objects are never packed. */
  readonly compressAfterMs: number;
  /** Informers whose objects have less than this in total are not packed. */
  readonly packBytesMin?: number | undefined;
  /** Memory that the program has. Default: no limit. */
  readonly memoryBytes?: number;
  /** Length of a slab; shorter in tests. */
  readonly slabBytes?: number | undefined;
  readonly clock: Clock;
  /** Number of merged changes, a u32 that wraps. */
  readonly merged: () => number;
  /** Calls `callback` once, soon after the next change is merged. */
  readonly afterNextMerge: (callback: () => void) => void;
}

/** Shares of the memory: changed objects that wait to be packed, dropped memory that waits for V8, free slabs. */
const LOOSE_SHARE = 1 / 8;
const DROPPED_SHARE = 1 / 16;
const FREE_SHARE = 1 / 32;

export class StoreMemory {
  readonly decodedCache: DecodedCache;
  readonly slabMemory: SlabMemory;
  /** Informers whose objects have less than this in total are not packed. */
  readonly packBytesMin: number;
  /** Whether objects are packed at all. */
  readonly isPacking: boolean;
  /** Bytes as received of an informer's objects above which a changed object is packed at once. */
  readonly looseBytesMax: number;
  readonly packing: PackingRounds;

  constructor(options: StoreMemoryOptions) {
    this.decodedCache = new DecodedCache(options.decodedCacheBytes);
    const { memoryBytes = Infinity } = options;
    this.slabMemory = new SlabMemory(options.slabBytes, memoryBytes);
    this.packBytesMin = options.packBytesMin ?? TOTAL_BYTES_MIN;
    this.isPacking = options.compressAfterMs !== Infinity;
    this.looseBytesMax = this.isPacking ? memoryBytes * LOOSE_SHARE : Infinity;
    this.packing = new PackingRounds(options, () => this.slabMemory.tidy());
  }
}

/**
 * Approximate length of a slab; emptying a slab takes a fraction of a millisecond. A longer object gets a separate
 * slab.
 */
export const SLAB_BYTES: number = 512 * 2 ** 10;
const FREE_BYTES_MAX = 2 ** 24;
/** Dropped bytes after which V8 is made to collect: twice the amount that makes it collect the whole heap. */
const DROPPED_BYTES_MAX = 2 ** 27;
/** Shorter memory is not worth a separate mapping; the system allows some ten thousand mappings. */
const MAPPED_BYTES_MIN = 2 ** 16;

/**
 * The memory of slabs. Full-size slabs are SharedArrayBuffers, even if only a single thread uses them: V8 counts the
 * bytes of ArrayBuffers against its heap and would collect the whole heap repeatedly while a cache fills, at a ninth or
 * more of the CPU time of a sync (docs/decisions/0016). Empty slabs are kept for reuse.
 *
 * V8 frees uncounted memory late. So this class counts all dropped bytes that V8 does not count, and after many of them
 * makes V8 collect, in this thread and in the threads that read them. The freed memory must also return to the system:
 * growable memory is mapped separately, while malloc kept 500 MB of other slabs (docs/decisions/0018).
 */
export class SlabMemory {
  /**
   * Threads that refer to memory by number. The numbers stay valid while memory is free, because a new slab begins
   * every few hundred changes.
   */
  readonly readers: Set<MemoryReader> = new Set();
  /** Approximate length of a slab. */
  readonly slabBytes: number;
  readonly #droppedBytesMax: number;
  readonly #freeBytesMax: number;
  readonly #free: Buffer[] = [];
  #droppedBytes = 0;
  #isQuiet = true;

  /** @param memoryBytes memory that the program has */
  constructor(slabBytes: number = SLAB_BYTES, memoryBytes: number = Infinity) {
    this.slabBytes = slabBytes;
    this.#droppedBytesMax = Math.min(DROPPED_BYTES_MAX, memoryBytes * DROPPED_SHARE);
    this.#freeBytesMax = Math.min(FREE_BYTES_MAX, memoryBytes * FREE_SHARE);
  }

  /** Returns memory of at least `bytes`, with any content. */
  take(bytes: number): Buffer {
    const { slabBytes } = this;
    if (bytes > slabBytes || bytes <= slabBytes / 2) return Buffer.allocUnsafeSlow(bytes);
    this.#isQuiet = false;
    return this.#free.pop() ?? mapped(slabBytes);
  }

  /** Takes back unused memory. Returns whether the memory is kept for other slabs. */
  give(memory: Buffer): boolean {
    if (memory.length !== this.slabBytes) {
      if (memory.buffer instanceof SharedArrayBuffer) this.dropped(memory.length);
      return false;
    }
    this.#free.push(memory);
    if (this.freeBytes > this.#freeBytesMax) this.#drop(this.#free.length >> 1);
    return true;
  }

  /** Counts dropped bytes of shared memory. */
  dropped(bytes: number): void {
    this.#droppedBytes += bytes;
    if (this.#droppedBytes >= this.#droppedBytesMax) this.#collect();
  }

  /** Ends the number of a memory without rows in every thread. */
  forget({ buffer }: Buffer): void {
    for (const reader of this.readers) reader.forget(buffer);
  }

  /**
   * Drops all free memory if none was taken since the previous call. Called after each round of packing.
   *
   * @returns whether the next call may drop memory
   */
  tidy(): boolean {
    const isQuiet = this.#isQuiet;
    this.#isQuiet = true;
    if (this.#droppedBytes + this.freeBytes < WORTH_BYTES_MIN) return false;
    if (!isQuiet) return true;
    this.#drop(this.#free.length);
    if (this.#droppedBytes > 0) this.#collect();
    return false;
  }

  get freeBytes(): number {
    return this.#free.length * this.slabBytes;
  }

  #drop(count: number): void {
    for (const memory of this.#free.splice(this.#free.length - count)) this.forget(memory);
    this.dropped(count * this.slabBytes);
  }

  #collect(): void {
    this.#droppedBytes = 0;
    collectGarbage();
    for (const reader of this.readers) reader.collect();
  }
}

function mapped(bytes: number): Buffer {
  const memory = new SharedArrayBuffer(bytes, { maxByteLength: bytes });
  return Buffer.from(memory, 0, bytes);
}

/** Memory that other threads may read: a slab, or a dictionary. */
export interface SharedMemory {
  /** In shared memory, once `shareMemory` was called. */
  bytes: Buffer;
  /** Whether another thread may hold the memory's number. */
  isShared: boolean;
}

/** A thread that refers to memory by number. */
export interface MemoryReader {
  /** Ends the number of a memory without rows. */
  forget(memory: ArrayBufferLike): void;
  /** Makes V8 collect in that thread, which holds dropped memory until V8 collects. */
  collect(): void;
}

/** The threads that read the bytes of rows. */
export interface BytesReaders {
  /** Returns whether a row that threads read may be moved: not while those threads are far behind. */
  mayMove(): boolean;
  /**
   * Called after a row's bytes were moved, packed or unpacked. The former row keeps the old bytes until no thread reads
   * them.
   */
  moved(row: number, former: number): void;
  /** Called when the memory contains no rows and will not contain any. */
  dropped(memory: SharedMemory): void;
}

/**
 * Moves the bytes into shared memory, unless they are shared already. Small slabs begin as private memory, because most
 * caches are never shared.
 */
export function shareMemory(memory: SharedMemory): void {
  memory.isShared = true;
  if (memory.bytes.buffer instanceof SharedArrayBuffer) return;
  const { length } = memory.bytes;
  const bytes = length < MAPPED_BYTES_MIN ? Buffer.from(new SharedArrayBuffer(length)) : mapped(length);
  memory.bytes.copy(bytes);
  memory.bytes = bytes;
}

/** A store with objects to pack: a round proceeds step by step. */
export interface Packable {
  /** @returns whether the next round has work even if no object changes in the meantime */
  round(): Generator<void, boolean, void>;
}

/** Duration of a piece and of the pause after it: a fifth of the thread while there is something to pack. */
const PIECE_MS = 0.5;
const PAUSE_MS = 2;

type PackingOptions = Pick<StoreMemoryOptions, 'clock' | 'compressAfterMs' | 'merged' | 'afterNextMerge'>;

/**
 * Runs packing in rounds over all informers of the same threads. There is a pause of `compressAfterMs` between two
 * rounds, and a round is divided into small pieces, because the main thread has other work. Rounds begin with a change,
 * and end with a round that left no work.
 */
export class PackingRounds {
  readonly #options: PackingOptions;
  readonly #ended: () => boolean;
  /** The stores, and the callback for the error that ends the packing of a store. */
  readonly #members: Map<Packable, (error: unknown) => void> = new Map();
  /** Whether the next merge begins rounds. */
  #isAwaitingMerge = false;
  /** Cancels the wait for the next piece; undefined while there is no work. */
  #cancel: (() => void) | undefined;
  /** Number of merged changes at the first piece of the last round. */
  #mergedBefore = 0;

  /** @param ended called after each round; returns whether it has work after the next round */
  constructor(options: PackingOptions, ended: () => boolean) {
    this.#options = options;
    this.#ended = ended;
  }

  /** @param failed called with an error of a round: this member is no longer packed */
  add(member: Packable, failed: (error: unknown) => void): void {
    this.#members.set(member, failed);
    if (this.#cancel === undefined) this.#awaitMerge();
  }

  remove(member: Packable): void {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #awaitMerge(): void {
    const { compressAfterMs, afterNextMerge } = this.#options;
    if (this.#isAwaitingMerge || compressAfterMs === Infinity) return;
    this.#isAwaitingMerge = true;
    afterNextMerge(() => {
      this.#isAwaitingMerge = false;
      if (this.#members.size > 0) this.#wait();
    });
  }

  #wait(): void {
    const { clock, compressAfterMs, merged } = this.#options;
    this.#cancel = clock.schedule(compressAfterMs, () => {
      this.#mergedBefore = merged();
      this.#work(this.#round());
    });
  }

  #work(round: Generator<void, boolean, void>): void {
    const { clock, merged } = this.#options;
    const endMs = clock.now() + PIECE_MS;
    let step: IteratorResult<void, boolean> | undefined;
    while (!step?.done && clock.now() < endMs) step = round.next();
    if (!step?.done) {
      this.#cancel = clock.schedule(PAUSE_MS, () => this.#work(round));
      return;
    }
    this.#cancel = undefined;
    const hasMore = this.#ended() || step.value;
    if (hasMore || merged() !== this.#mergedBefore) this.#wait();
    else this.#awaitMerge();
  }

  *#round(): Generator<void, boolean, void> {
    let hasMore = false;
    for (const [member, failed] of this.#members) {
      try {
        hasMore = (yield* member.round()) || hasMore;
      } catch (error) {
        this.#members.delete(member);
        failed(error);
      }
    }
    return hasMore;
  }
}
