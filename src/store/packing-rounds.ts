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
  /** A piece is done: there may be slabs to be tidied. */
  readonly worked: () => void;
  readonly ended: () => void;
}

/** A piece of work and the pause after it: a fifth of the main thread at most. */
const PIECE_MS = 0.5;
const PAUSE_MS = 2;

export class PackingRounds {
  readonly #options: PackingRoundsOptions;
  readonly #members: Set<Packable> = new Set();
  /** Ends the wait for the next piece; there is none while nobody has anything. */
  #cancel: (() => void) | undefined;

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
    const { clock, worked, ended } = this.#options;
    const endMs = clock.now() + PIECE_MS;
    let isDone = false;
    while (!isDone && clock.now() < endMs) isDone = round.next().done === true;
    worked();
    if (isDone) ended();
    if (isDone) this.#wait();
    else this.#cancel = clock.schedule(PAUSE_MS, () => this.#work(round));
  }

  *#round(): Generator<void, void, void> {
    for (const member of this.#members) yield* member.round();
  }
}
