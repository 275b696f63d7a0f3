/**
 * One simulated process: its clock runs at a rate of its own, it may be frozen, suspended or cut off, and nothing runs in it after
 * its death. A frozen process runs what came due meanwhile, in order, when it continues, as Node does. The clock of a suspended
 * process, whose machine is paused, stands still.
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
  #suspendedSinceMs: number | undefined;
  #suspendedMs = 0;
  #staleUntilMs = -Infinity;

  constructor({ truth, random, identity, rate, lateMaxMs = 0 }: ProcessOptions) {
    this.identity = identity;
    this.#truth = truth;
    this.#random = random;
    this.#wallOffsetMs = WALL_MS + random() * WALL_ERROR_MAX_MS;
    this.clock = {
      now: () => (truth.now() - this.#stoodMs) * rate,
      schedule: (delayMs, callback) => {
        let isCancelled = false;
        let cancel = (): void => undefined;
        const arm = (forMs: number): void => {
          const stoodMs = this.#stoodMs;
          cancel = truth.schedule(forMs, () => {
            const laterMs = this.#stoodMs - stoodMs;
            this.run(() => isCancelled || (laterMs > 0 ? arm(laterMs) : callback()));
          });
        };
        const lateMs = lateMaxMs > 0 ? random() * lateMaxMs : 0;
        arm(delayMs / rate + lateMs);
        return () => {
          isCancelled = true;
          cancel();
        };
      },
    };
  }

  /** The time for which the clock stood still. */
  get #stoodMs(): number {
    const nowMs = this.#truth.now();
    return this.#suspendedMs + nowMs - (this.#suspendedSinceMs ?? nowMs);
  }

  /** Whether the process was suspended, and may not have found that out. */
  get isStale(): boolean {
    return this.#truth.now() < this.#staleUntilMs;
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

  /** @param staleMs the longest time for which the process does not find out that it was suspended */
  suspend(staleMs: number, continued: () => void): void {
    this.#suspendedSinceMs = this.#truth.now();
    this.freeze(() => {
      this.#suspendedMs = this.#stoodMs;
      this.#suspendedSinceMs = undefined;
      this.#staleUntilMs = this.#truth.now() + staleMs;
      continued();
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
