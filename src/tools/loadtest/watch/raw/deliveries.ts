/** The times at which a raw watcher received changes: a count for each second, and a sample of the times. */

/** A watcher keeps at most this number of samples, and at least half of it. */
const SAMPLES_MAX = 512;

export interface Delivery {
  /** The index in `CommonEvents`. */
  readonly index: number;
  /** By `nowUs`. */
  readonly calledUs: number;
}

export class Deliveries {
  readonly #offset: number;
  /** Every n-th event is kept; n doubles when the samples are full. */
  #stride = 1;
  #kept = 0;
  readonly #indexes = new Uint32Array(SAMPLES_MAX);
  readonly #calledUs = new Float64Array(SAMPLES_MAX);
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
    while (this.#kept === SAMPLES_MAX && this.#isKept(index)) this.#thin();
    if (this.#isKept(index)) this.#keep(index, calledUs);
  }

  get samples(): readonly Delivery[] {
    return Array.from({ length: this.#kept }, (_, n) => this.#sample(n));
  }

  /** Changes by the number of the second of the run. */
  get seconds(): ReadonlyMap<number, number> {
    return new Map(this.#changes.map((changes, index) => [this.#firstSecond + index, changes]));
  }

  #thin(): void {
    this.#stride *= 2;
    const { samples } = this;
    this.#kept = 0;
    for (const { index, calledUs } of samples) if (this.#isKept(index)) this.#keep(index, calledUs);
  }

  #keep(index: number, calledUs: number): void {
    this.#indexes[this.#kept] = index;
    this.#calledUs[this.#kept] = calledUs;
    this.#kept++;
  }

  #sample(n: number): Delivery {
    return { index: this.#indexes[n] ?? 0, calledUs: this.#calledUs[n] ?? 0 };
  }

  #isKept(index: number): boolean {
    // Above 0, so that some stride drops it.
    return (index + this.#offset + 1) % this.#stride === 0;
  }
}
