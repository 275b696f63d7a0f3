/**
 * Runs packing in rounds over all informers of the same threads. There is a pause of `packAfterMs` between two rounds,
 * and a round is divided into small pieces, because the main thread has other work.
 */
import type { Clock } from '../../base/clock.ts';

/** A store with objects to pack: its round does one step at a time. */
export interface Packable {
  round(): Generator<void, void, void>;
}

export interface PackingRoundsOptions {
  readonly clock: Clock;
  /** Infinity: nothing is ever packed. */
  readonly afterMs: number;
  /** A counter that changes when changes were merged: then the main thread has other work. */
  readonly merged: () => number;
  readonly ended: () => void;
}

/** Duration of a piece and of the pause after it: a fifth of an idle thread, a thirtieth of one that merges. */
const WHEN_IDLE = { pieceMs: 0.5, pauseMs: 2 };
const WHEN_BUSY = { pieceMs: 0.2, pauseMs: 6 };

export class PackingRounds {
  readonly #options: PackingRoundsOptions;
  readonly #members: Set<Packable> = new Set();
  /** Cancels the wait for the next piece; undefined without members. */
  #cancel: (() => void) | undefined;
  #merged = 0;

  constructor(options: PackingRoundsOptions) {
    this.#options = options;
  }

  add(member: Packable): void {
    this.#members.add(member);
    if (this.#cancel === undefined && this.#options.afterMs !== Infinity) this.#wait();
  }

  remove(member: Packable): void {
    this.#members.delete(member);
    if (this.#members.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(): void {
    const { clock, afterMs } = this.#options;
    this.#cancel = clock.schedule(afterMs, () => this.#work(this.#round()));
  }

  #work(round: Generator<void, void, void>): void {
    const { clock, merged, ended } = this.#options;
    const isBusy = merged() !== this.#merged;
    this.#merged = merged();
    const { pieceMs, pauseMs } = isBusy ? WHEN_BUSY : WHEN_IDLE;
    const endMs = clock.now() + pieceMs;
    let isDone = false;
    while (!isDone && clock.now() < endMs) isDone = round.next().done === true;
    if (!isDone) {
      this.#cancel = clock.schedule(pauseMs, () => this.#work(round));
      return;
    }
    ended();
    this.#wait();
  }

  *#round(): Generator<void, void, void> {
    for (const member of this.#members) yield* member.round();
  }
}
