/**
 * When objects are packed: in rounds over all informers of the same threads, with a pause of `packAfterMs` between
 * them, and in small pieces, because the main thread has better things to do.
 */
import type { Clock } from '../clock.ts';

/** What has something to pack: one step each time, done at the end. */
export interface Packable {
  round(): Generator<void, void, void>;
}

export interface PackingRoundsOptions {
  readonly clock: Clock;
  /** Infinity: nothing is ever packed. */
  readonly afterMs: number;
  /** Another number when changes were merged since the last time: the main thread has other work. */
  readonly merged: () => number;
  readonly ended: () => void;
}

/** A piece of work and the pause after it: a fifth of a thread that does nothing else, a thirtieth of one that merges. */
const WHEN_IDLE = { pieceMs: 0.5, pauseMs: 2 };
const WHEN_BUSY = { pieceMs: 0.2, pauseMs: 6 };

export class PackingRounds {
  readonly #options: PackingRoundsOptions;
  readonly #members: Set<Packable> = new Set();
  /** Ends the wait for the next piece; there is none while nobody has anything. */
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
