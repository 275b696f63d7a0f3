/**
 * Remembers parsed objects, strongly, up to a number of bytes for the whole process; the longest remembered
 * is forgotten first.
 *
 * Never a WeakRef: V8 keeps the target of every WeakRef made or read alive until the task ends, so a loop
 * over 110,000 pods would hold gigabytes.
 *
 * What a handler reads is remembered briefly only. A tree that lives long enough to be moved to V8's old space costs
 * more than parsing it once more: 65 instead of 40 us of CPU time an event (docs/decisions/0013).
 */

export interface Forgettable {
  forgetDecoded(): void;
}

interface Remembered {
  readonly holder: Forgettable;
  readonly costBytes: number;
}

/** When there is no room, one in so many takes the place of the oldest: if all of them did, none would be met again. */
const SHARED_TURN = 16;
/** Twenty pods, a little of what V8's new space has: what is remembered briefly dies there. */
const BRIEF_COST_BYTES_MAX = 2 ** 18;

export class DecodedCache {
  readonly #costBytesMax: number;
  readonly #kept: RememberedQueue = new RememberedQueue();
  readonly #shared: RememberedQueue = new RememberedQueue();
  readonly #brief: RememberedQueue = new RememberedQueue();
  #refused = 0;

  /** @param costBytesMax 0: nothing is remembered */
  constructor(costBytesMax: number) {
    this.#costBytesMax = costBytesMax;
  }

  /** For somebody who may come back for it: a lister's caller, or who retained it. */
  remember(holder: Forgettable, costBytes: number): void {
    this.#kept.push(holder, costBytes);
    this.#shared.forgetWhile(() => this.#lastingBytes > this.#costBytesMax);
    this.#kept.forgetWhile(() => this.#lastingBytes > this.#costBytesMax);
  }

  /** For later states of the same object: what nobody who may come back needs room for. */
  rememberShared(holder: Forgettable, costBytes: number): void {
    const hasRoom = (): boolean => this.#lastingBytes + costBytes <= this.#costBytesMax;
    if (!hasRoom() && ++this.#refused % SHARED_TURN === 0) this.#shared.forgetWhile(() => !hasRoom());
    if (hasRoom()) this.#shared.push(holder, costBytes);
    else holder.forgetDecoded();
  }

  /** For the call in progress, which may read it again. The newest stays, however large it is. */
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
  /** Live from `#first` on; the dead front is cut off when it is half of the array. */
  #queue: (Remembered | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#queue.length - this.#first;
  }

  push(holder: Forgettable, costBytes: number): void {
    this.#queue.push({ holder, costBytes });
    this.costBytes += costBytes;
  }

  /** The oldest first. */
  forgetWhile(isTooMuch: () => boolean): void {
    while (this.length > 0 && isTooMuch()) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const oldest = this.#queue[this.#first];
    this.#queue[this.#first] = undefined;
    this.#first++;
    if (oldest) {
      this.costBytes -= oldest.costBytes;
      oldest.holder.forgetDecoded();
    }
    if (this.#first > 1024 && this.#first * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#first);
      this.#first = 0;
    }
  }
}
