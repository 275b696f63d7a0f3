/**
 * Remembers parsed objects, strongly, up to a number of bytes for the whole process; the longest remembered
 * is forgotten first.
 *
 * Never a WeakRef: V8 keeps the target of every WeakRef made or read alive until the task ends, so a loop
 * over 110,000 pods would hold gigabytes.
 */

export interface Forgettable {
  forgetDecoded(): void;
}

interface Remembered {
  readonly holder: Forgettable;
  readonly costBytes: number;
}

export class DecodedCache {
  readonly #costBytesMax: number;
  /** A queue: live from `#first` on; the dead front is cut off when it is half of the array. */
  #queue: (Remembered | undefined)[] = [];
  #first = 0;
  #costBytes = 0;

  constructor(costBytesMax: number) {
    this.#costBytesMax = costBytesMax;
  }

  remember(holder: Forgettable, costBytes: number): void {
    this.#queue.push({ holder, costBytes });
    this.#costBytes += costBytes;
    while (this.#costBytes > this.#costBytesMax && this.#first < this.#queue.length) this.#forgetOldest();
  }

  get costBytes(): number {
    return this.#costBytes;
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
