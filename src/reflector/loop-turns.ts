/**
 * The turns of an event loop that runs the reflector alone. In one turn the loop reads every socket that is ready, over TLS
 * in pieces of one event. The records of a turn become visible together at its end, so that they wake each thread once.
 * Then the thread sleeps through the window. Records that come seldom become visible at once: a call at the end of the turn
 * would collect nothing.
 */
import type { Clock } from '../base/clock.ts';
import { ReadWindow } from './read-window.ts';

/** The event loop of the reflector's thread. */
export interface ReflectorLoop {
  /** Longest time between two reads of the sockets. */
  readonly readWindowMs: number;
  /** Calls back when all sockets that are ready have been read. */
  atEndOfTurn(callback: () => void): void;
  /** Blocks the thread for that time, or until the main thread has sent a message. */
  sleep(windowMs: number): void;
}

/** The reflector, as the end of a turn uses it. */
export interface TurnWork {
  readonly clock: Pick<Clock, 'now'>;
  /** Makes the records of the turn visible. */
  commit(): void;
  /** False while anything but the next event of a watch is awaited. */
  readonly maySleep: boolean;
}

/** Records of a turn that may become visible later than they could: more are work for many wake-ups. */
const RECORDS_DEFERRED_MAX = 32;

export class LoopTurns {
  readonly #loop: ReflectorLoop;
  readonly #work: TurnWork;
  readonly #window: ReadWindow;
  /** Records of this turn so far. */
  #records = 0;
  /** Whether the end of a turn is worth its call. */
  #isCollecting = false;

  constructor(loop: ReflectorLoop, work: TurnWork) {
    this.#loop = loop;
    this.#work = work;
    this.#window = new ReadWindow(loop.readWindowMs, work.clock.now());
  }

  /** Counts records that were just written. @returns whether the end of the turn commits them */
  defer(records: number): boolean {
    if (!this.#isCollecting) {
      this.#count(records);
      return false;
    }
    if (this.#records === 0) this.#loop.atEndOfTurn(() => this.#end());
    this.#records += records;
    return this.#records <= RECORDS_DEFERRED_MAX;
  }

  #end(): void {
    this.#work.commit();
    const windowMs = this.#count(this.#records);
    this.#records = 0;
    if (windowMs > 0 && this.#work.maySleep) this.#loop.sleep(windowMs);
  }

  /** @returns the window in ms that follows these records */
  #count(records: number): number {
    const windowMs = this.#window.after(records, this.#work.clock.now());
    this.#isCollecting = windowMs > 0 || !this.#window.isSlow;
    return windowMs;
  }
}
