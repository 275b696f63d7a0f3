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

/** Twenty pods, a little of what V8's new space has: what is remembered briefly dies there. */
const BRIEF_COST_BYTES_MAX = 2 ** 18;

export class DecodedCache {
  readonly #kept: RememberedQueue;
  readonly #brief: RememberedQueue;

  /** @param costBytesMax 0: nothing is remembered */
  constructor(costBytesMax: number) {
    this.#kept = new RememberedQueue(costBytesMax, 0);
    this.#brief = new RememberedQueue(Math.min(costBytesMax, BRIEF_COST_BYTES_MAX), costBytesMax > 0 ? 1 : 0);
  }

  /** For somebody who may come back for it: a lister's caller, or who retained it. */
  remember(holder: Forgettable, costBytes: number): void {
    this.#kept.push(holder, costBytes);
  }

  /** For the call in progress, which may read it again. The newest stays, however large it is. */
  rememberBriefly(holder: Forgettable, costBytes: number): void {
    this.#brief.push(holder, costBytes);
  }

  get costBytes(): number {
    return this.#kept.costBytes + this.#brief.costBytes;
  }
}

class RememberedQueue {
  readonly #costBytesMax: number;
  readonly #holdersMin: number;
  /** Live from `#first` on; the dead front is cut off when it is half of the array. */
  #queue: (Remembered | undefined)[] = [];
  #first = 0;
  #costBytes = 0;

  constructor(costBytesMax: number, holdersMin: number) {
    this.#costBytesMax = costBytesMax;
    this.#holdersMin = holdersMin;
  }

  get costBytes(): number {
    return this.#costBytes;
  }

  push(holder: Forgettable, costBytes: number): void {
    this.#queue.push({ holder, costBytes });
    this.#costBytes += costBytes;
    while (this.#costBytes > this.#costBytesMax && this.#queue.length - this.#first > this.#holdersMin)
      this.#forgetOldest();
  }

  #forgetOldest(): void {
    const oldest = this.#queue[this.#first];
    this.#queue[this.#first] = undefined;
    this.#first++;
    if (oldest) {
      this.#costBytes -= oldest.costBytes;
      oldest.holder.forgetDecoded();
    }
    if (this.#first > 1024 && this.#first * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#first);
      this.#first = 0;
    }
  }
}
