/**
 * One simulated process: its clock runs at a rate of its own, it may be frozen, and nothing runs in it after its death. A
 * frozen process runs what came due meanwhile, in order, when it continues, as Node does.
 */
import type { FakeClock } from '../../../src/apiserver/testing/index.ts';
import type { Clock } from '../../../src/base/clock.ts';

export class SimulatedProcess {
  readonly clock: Clock;
  readonly #truth: FakeClock;
  readonly #wallOffsetMs: number;
  #isDead = false;
  #isFrozen = false;
  #deferred: (() => void)[] = [];

  /**
   * @param rate of its clock: 1.1 gains 10 %
   * @param wallOffsetMs difference between its wall time and its monotonic time
   */
  constructor(truth: FakeClock, rate: number, wallOffsetMs: number) {
    this.#truth = truth;
    this.#wallOffsetMs = wallOffsetMs;
    this.clock = {
      now: () => truth.now() * rate,
      schedule: (delayMs, callback) => {
        let isCancelled = false;
        const cancel = truth.schedule(delayMs / rate, () => this.run(() => isCancelled || callback()));
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  wallMs(): number {
    return this.clock.now() + this.#wallOffsetMs;
  }

  /** Runs a timer's callback or an answer of the network. */
  run(task: () => void): void {
    if (this.#isDead) return;
    if (this.#isFrozen) this.#deferred.push(task);
    else task();
  }

  kill(): void {
    this.#isDead = true;
  }

  freeze(forMs: number): void {
    this.#isFrozen = true;
    this.#truth.schedule(forMs, () => this.#thaw());
  }

  /** Runs each deferred task as a turn of its own. */
  #thaw(): void {
    this.#isFrozen = false;
    for (const task of this.#deferred) this.#truth.schedule(0, () => this.run(task));
    this.#deferred = [];
  }
}
