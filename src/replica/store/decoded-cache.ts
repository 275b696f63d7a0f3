/**
 * Caches parsed objects with strong references, up to a number of bytes for the whole process. The oldest objects are
 * evicted first.
 *
 * WeakRefs would not work: V8 keeps the target of every WeakRef that was made or read until the task ends, so a loop
 * over 110,000 pods would hold gigabytes.
 *
 * Objects that a handler reads are cached briefly only. A tree that stays long enough to be moved to V8's old space
 * costs more than parsing it again: 65 instead of 40 us of CPU time an event (docs/decisions/0013). So an object of a
 * lister is also cached briefly when it is read for the first time: a loop over all objects would fill the cache with
 * objects that are read once, at twice the CPU time (docs/decisions/0005). The object is cached longer if it is parsed
 * again before other objects could have filled the cache.
 */

export interface Forgettable {
  forgetDecoded(): void;
}

/** An object that callers may read again. */
export interface Rereadable extends Forgettable {
  /** The cache's `parsedKiB` when the object was forgotten; 0 before. */
  readonly forgottenAtKiB: number;
}

/**
 * When the cache is full, every 16th newcomer replaces the oldest: if all did, each would be evicted before the next
 * use.
 */
const SHARED_TURN = 16;
const BYTES_OF_KIB = 1024;
/**
 * Twenty pods, a small part of V8's new space: briefly cached trees are collected while they are still in new space.
 */
const BRIEF_COST_BYTES_MAX = 2 ** 18;

export class DecodedCache {
  /** Reads of objects and metadata that were still parsed, and reads that had to parse. */
  hits = 0;
  misses = 0;
  /** Cost of all objects parsed for callers who may read them again. */
  parsedKiB = 1;
  readonly #costBytesMax: number;
  readonly #kept: RememberedQueue = new RememberedQueue();
  readonly #shared: RememberedQueue = new RememberedQueue();
  readonly #brief: RememberedQueue = new RememberedQueue();
  #refused = 0;

  /** @param costBytesMax 0: no caching */
  constructor(costBytesMax: number) {
    this.#costBytesMax = costBytesMax;
  }

  /**
   * Caches for callers who may read the entry again (entries of a lister, retained entries): longer from the second
   * time on.
   */
  rememberRead(holder: Rereadable, costBytes: number): void {
    const { forgottenAtKiB } = holder;
    const isSoon = this.parsedKiB - forgottenAtKiB <= this.#costBytesMax / BYTES_OF_KIB;
    this.parsedKiB += Math.ceil(costBytes / BYTES_OF_KIB);
    if (forgottenAtKiB > 0 && isSoon) this.remember(holder, costBytes);
    else this.rememberBriefly(holder, costBytes);
  }

  /** Caches in order of arrival. */
  remember(holder: Forgettable, costBytes: number): void {
    this.#kept.push(holder, costBytes);
    this.#shared.forgetWhile(() => this.#lastingBytes > this.#costBytesMax);
    this.#kept.forgetWhile(() => this.#lastingBytes > this.#costBytesMax);
  }

  /** Caches metadata for later versions, in the budget that objects held by listers leave free. */
  rememberShared(holder: Forgettable, costBytes: number): void {
    const hasRoom = (): boolean => this.#lastingBytes + costBytes <= this.#costBytesMax;
    if (!hasRoom() && ++this.#refused % SHARED_TURN === 0) this.#shared.forgetWhile(() => !hasRoom());
    if (hasRoom()) this.#shared.push(holder, costBytes);
    else holder.forgetDecoded();
  }

  /** Caches for the call in progress, which may read the object again. The newest object stays, however large. */
  rememberBriefly(holder: Forgettable, costBytes: number): void {
    const brief = this.#brief;
    const briefBytesMax = Math.min(this.#costBytesMax, BRIEF_COST_BYTES_MAX);
    brief.push(holder, costBytes);
    const lengthMin = this.#costBytesMax > 0 ? 1 : 0;
    brief.forgetWhile(() => brief.costBytes > briefBytesMax && brief.length > lengthMin);
  }

  get costBytes(): number {
    return this.#lastingBytes + this.#brief.costBytes;
  }

  get #lastingBytes(): number {
    return this.#kept.costBytes + this.#shared.costBytes;
  }
}

class RememberedQueue {
  costBytes = 0;
  /** Elements from `#first` on are valid; the empty front is cut off when it is half of the array. */
  #queue: ({ readonly holder: Forgettable; readonly costBytes: number } | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#queue.length - this.#first;
  }

  push(holder: Forgettable, costBytes: number): void {
    this.#queue.push({ holder, costBytes });
    this.costBytes += costBytes;
  }

  forgetWhile(isTooMuch: () => boolean): void {
    while (this.length > 0 && isTooMuch()) {
      const oldest = this.#queue[this.#first];
      this.#queue[this.#first++] = undefined;
      this.costBytes -= oldest?.costBytes ?? 0;
      oldest?.holder.forgetDecoded();
    }
    if (this.#first <= 1024 || this.#first * 2 <= this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#first);
    this.#first = 0;
  }
}
