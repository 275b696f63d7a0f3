/**
 * One simulated process: its clock runs at a rate of its own, it may be frozen or cut off, and nothing runs in it after its death. A
 * frozen process runs what came due meanwhile, in order, when it continues, as Node does.
 */
import type { FakeClock } from '../../../src/tools/apiserver/testing/index.ts';
import type { Clock, Random } from '../../../src/base/clock.ts';

export interface ProcessOptions {
  readonly truth: FakeClock;
  readonly random: Random;
  readonly identity: string;
  /** Rate of its clock: 1.1 gains 10 %. */
  readonly rate: number;
  /** Longest time by which a timer is late, because the process is busy. Default: 0. */
  readonly lateMaxMs?: number;
}

const WALL_MS = 1e12;
const WALL_ERROR_MAX_MS = 10_000_000;
/** Longest time for which a process is frozen or cut off. */
const OUTAGE_MAX_MS = 30_000;

export class SimulatedProcess {
  readonly identity: string;
  readonly clock: Clock;
  readonly #truth: FakeClock;
  readonly #random: Random;
  /** Difference between its wall time and its monotonic time. */
  readonly #wallOffsetMs: number;
  /** Whether the network loses all that the process sends from now on. */
  isCutOff = false;
  #isDead = false;
  #isFrozen = false;
  #deferred: (() => void)[] = [];

  constructor({ truth, random, identity, rate, lateMaxMs = 0 }: ProcessOptions) {
    this.identity = identity;
    this.#truth = truth;
    this.#random = random;
    this.#wallOffsetMs = WALL_MS + random() * WALL_ERROR_MAX_MS;
    this.clock = {
      now: () => truth.now() * rate,
      schedule: (delayMs, callback) => {
        let isCancelled = false;
        const lateMs = lateMaxMs > 0 ? random() * lateMaxMs : 0;
        const cancel = truth.schedule(delayMs / rate + lateMs, () =>
          this.run(() => isCancelled || callback()),
        );
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

  /** @param continued called before anything else runs */
  freeze(continued: () => void = () => undefined): void {
    this.#isFrozen = true;
    this.#truth.schedule(this.#random() * OUTAGE_MAX_MS, () => {
      this.#isFrozen = false;
      continued();
      this.#thaw();
    });
  }

  cutOff(): void {
    this.isCutOff = true;
    this.#truth.schedule(this.#random() * OUTAGE_MAX_MS, () => (this.isCutOff = false));
  }

  /** Runs each deferred task as a turn of its own. */
  #thaw(): void {
    for (const task of this.#deferred) this.#truth.schedule(0, () => this.run(task));
    this.#deferred = [];
  }
}
