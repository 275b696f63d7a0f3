/** The times at which one raw watcher received changes: a count for each second, and a sample of the times. */

/** A watcher keeps half as many, or more, of all its changes. */
const SAMPLES_MAX = 512;

export interface Delivery {
  /** The index in `CommonEvents`. */
  readonly index: number;
  /** By `nowUs`. */
  readonly calledUs: number;
}

export class Deliveries {
  readonly #offset: number;
  /** One event in so many is kept; doubled when there are too many. */
  #stride = 1;
  #samples: Delivery[] = [];
  readonly #startedUs: number;
  readonly #changes: number[] = [];
  /** The number of the second of `#changes[0]`. */
  #firstSecond = 0;

  /**
   * @param startedUs the start of the run, by `nowUs`
   * @param offset watchers with other offsets keep other changes
   */
  constructor(startedUs: number, offset: number) {
    this.#startedUs = startedUs;
    this.#offset = offset;
  }

  add(index: number, calledUs: number): void {
    const second = Math.floor((calledUs - this.#startedUs) / 1e6);
    if (this.#changes.length === 0) this.#firstSecond = second;
    while (this.#changes.length <= second - this.#firstSecond) this.#changes.push(0);
    (this.#changes[second - this.#firstSecond] as number)++;
    if (!this.#isKept(index)) return;
    this.#samples.push({ index, calledUs });
    if (this.#samples.length <= SAMPLES_MAX) return;
    this.#stride *= 2;
    this.#samples = this.#samples.filter((sample) => this.#isKept(sample.index));
  }

  get samples(): readonly Delivery[] {
    return this.#samples;
  }

  /** Changes by the number of the second of the run. */
  get seconds(): ReadonlyMap<number, number> {
    return new Map(this.#changes.map((changes, index) => [this.#firstSecond + index, changes]));
  }

  #isKept(index: number): boolean {
    return (index + this.#offset) % this.#stride === 0;
  }
}
