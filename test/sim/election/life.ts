/**
 * A life of three candidates from a seed: for a while they are stopped, killed and frozen while the network loses, delays and
 * duplicates requests; then everything is calm. Leaders act at random times. An act of an older leader after an act of a
 * newer one is a violation: two have led at the same time. So is a calm end without a leader that acts.
 */
import { FakeClock, seededRandom } from '../../../src/tools/apiserver/testing/index.ts';
import type { Random } from '../../../src/base/clock.ts';
import { KubeloomError } from '../../../src/base/errors.ts';
import { Election } from '../../../src/controller/leader-election/election.ts';
import type { ElectionRules } from '../../../src/controller/leader-election/election-state.ts';
import { step } from '../../../src/controller/leader-election/election-step.ts';
import { SimulatedProcess } from './process.ts';
import { ElectionServer } from './server.ts';

/** A wrong rule, or a careless server. */
export interface Mutant {
  readonly title: string;
  readonly step?: (process: SimulatedProcess) => typeof step;
  readonly isServerCareless?: boolean;
}

export interface Life {
  readonly violations: readonly string[];
  /** Leaderships, and how they ended. */
  readonly terms: number;
  readonly losses: number;
  readonly releases: number;
}

type Timings = Pick<ElectionRules, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;

/** Timings, and the deviation of clocks that they tolerate: the fastest and the slowest differ by less than their ratio. */
const TIMINGS: readonly (readonly [Timings, number])[] = [
  [{ leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 }, 0.19],
  [{ leaseDurationMs: 10_000, renewDeadlineMs: 9500, retryPeriodMs: 2000 }, 0.02],
  // Other candidates see each renewal, and the end of a lease, soon.
  [{ leaseDurationMs: 3000, renewDeadlineMs: 2950, retryPeriodMs: 250 }, 0.005],
  // A record has whole seconds.
  [{ leaseDurationMs: 4500, renewDeadlineMs: 4400, retryPeriodMs: 1000 }, 0.01],
];
const CANDIDATES = 3;
const STORM_MS = 120_000;
const CALM_MS = 75_000;
/** Pauses between two acts of a leader, as a part of the lease's duration. */
const ACT_MAX = 0.1;
const FAULT_MAX_MS = 60_000;
const QUIET_MAX_MS = 5000;
/** Turns of the microtask queue after each event: more than an answer takes to become a step of the rules. */
const PROMISE_HOPS = 8;

class World {
  readonly truth = new FakeClock(0);
  readonly violations: string[] = [];
  readonly server: ElectionServer;
  readonly random: Random;
  readonly #mutant: Mutant | undefined;
  readonly #timings: Timings;
  readonly #deviation: number;
  #processes = 0;
  terms = 0;
  losses = 0;
  releases = 0;
  #actingTerm = 0;
  lastActMs = 0;

  constructor(seed: number, mutant: Mutant | undefined) {
    this.random = seededRandom(seed);
    this.#mutant = mutant;
    [this.#timings, this.#deviation] = TIMINGS[seed % TIMINGS.length] ?? TIMINGS[0]!;
    // Calls are given up after half of the deadline.
    this.server = new ElectionServer(this.truth, this.random, 0.6 * this.#timings.renewDeadlineMs);
    this.server.isCareless = mutant?.isServerCareless ?? false;
    this.server.badShare = this.random() * 0.6;
  }

  get isStorm(): boolean {
    return this.truth.now() < STORM_MS;
  }

  /** Runs a process with this number; another follows when it has ended. */
  live(candidate: number): void {
    const { truth, random } = this;
    const rate = 1 + this.#deviation * (2 * random() - 1);
    // Some programs have an identity that the next process has again.
    const identity =
      random() < 0.5 ? `candidate-${candidate}` : `candidate-${candidate}-${++this.#processes}`;
    const process = new SimulatedProcess({ truth, random, identity, rate });
    const stop = new AbortController();
    const followed = (): void => {
      process.kill();
      truth.schedule(random() * 5000, () => this.live(candidate));
    };
    const election: Election = new Election(
      {
        lock: this.server.lockOf(process),
        rules: { identity, ...this.#timings, releaseOnCancel: true },
        clock: process.clock,
        random,
        onNewLeader: () => undefined,
        onError: () => undefined,
        step: this.#mutant?.step?.(process) ?? step,
      },
      (signal) => this.#lead(process, election, signal),
    );
    void this.#outcome(election, stop.signal, followed);
    this.#meetFault(process, stop, followed);
  }

  async #outcome(election: Election, stop: AbortSignal, followed: () => void): Promise<void> {
    try {
      await election.run(stop);
      if (election.isBusy) this.violations.push('the lease was released before the work has ended');
      this.releases++;
    } catch (error) {
      if (!(error instanceof KubeloomError) || error.code !== 'ERR_KUBELOOM_LEADER_LOST') throw error;
      this.losses++;
    }
    followed();
  }

  #meetFault(process: SimulatedProcess, stop: AbortController, followed: () => void): void {
    this.truth.schedule(this.random() * FAULT_MAX_MS, () => {
      if (!this.isStorm || process.isDead) return;
      const kind = Math.floor(this.random() * 4);
      if (kind === 0) return followed();
      if (kind === 1) return process.run(() => stop.abort());
      if (kind === 2) process.freeze();
      else process.cutOff();
      this.#meetFault(process, stop, followed);
    });
  }

  /** Acts until the signal is aborted; then for a while longer, as long as the lease is held. */
  #lead(process: SimulatedProcess, election: Election, signal: AbortSignal): Promise<void> {
    const term = ++this.terms;
    let drainUntilMs = Infinity;
    return new Promise((resolve) => {
      const turn = (): void => {
        const { clock } = process;
        if (signal.aborted) drainUntilMs = Math.min(drainUntilMs, clock.now() + this.random() * 15_000);
        if (signal.aborted && (!election.isLeading || clock.now() >= drainUntilMs)) return resolve();
        this.#act(term);
        clock.schedule(this.random() * ACT_MAX * this.#timings.leaseDurationMs, turn);
      };
      turn();
    });
  }

  #act(term: number): void {
    this.lastActMs = this.truth.now();
    if (term < this.#actingTerm)
      this.violations.push(`leader ${term} acts after leader ${this.#actingTerm} at ${this.lastActMs} ms`);
    this.#actingTerm = Math.max(this.#actingTerm, term);
  }
}

export async function live(seed: number, mutant?: Mutant): Promise<Life> {
  const world = new World(seed, mutant);
  const { truth, violations } = world;
  for (let candidate = 0; candidate < CANDIDATES; candidate++) world.live(candidate);
  while (truth.now() < STORM_MS + CALM_MS && violations.length === 0) {
    if (!world.isStorm) world.server.badShare = 0;
    if (!truth.advanceToNext()) break;
    for (let hop = 0; hop < PROMISE_HOPS; hop++) await Promise.resolve();
  }
  const quietMs = truth.now() - world.lastActMs;
  if (violations.length === 0 && quietMs > QUIET_MAX_MS) violations.push(`no leader for ${quietMs} ms`);
  const { terms, losses, releases } = world;
  return { violations, terms, losses, releases };
}
