/**
 * The window between two reads of the sockets. Each event that is read alone wakes three threads, which costs more than its
 * work (docs/decisions/0032). So the reflector's thread sleeps after a read, and reads what has come meanwhile at once: as
 * a network card interrupts for the first packet and not for those behind it.
 *
 * The window follows the rate. It is long enough for a few events, and never longer than its option. There is none
 * after silence, at rates at which it would be shorter than a timer is exact, and while any object is listed.
 */
import { realClock, realTimers } from '../base/clock.ts';
import type { Bell } from '../shared/ring/bell.ts';

/** Events for which a window waits. */
const EVENTS = 8;
/** Expected events below which a window costs a wake-up and saves none. */
const EVENTS_MIN = 2;
/** Length of the periods in which the rate is measured. */
const PERIOD_MS = 10;
/** The shortest sleep that pays: the kernel's timers are exact to about 0.1 ms. */
const WINDOW_MIN_MS = 0.25;

export class ReadWindow {
  readonly #maxMs: number;
  #periodStartMs: number;
  #events = 0;
  #ratePerMs = 0;

  /** @param maxMs longest window; 0: none */
  constructor(maxMs: number, nowMs: number) {
    this.#maxMs = maxMs;
    this.#periodStartMs = nowMs;
  }

  /**
   * Returns the time in ms to sleep before the next read.
   *
   * @param events number of events that were just read
   */
  after(events: number, nowMs: number): number {
    this.#events += events;
    const elapsedMs = nowMs - this.#periodStartMs;
    if (elapsedMs >= PERIOD_MS) this.#begin(nowMs, this.#events / elapsedMs);
    const windowMs = Math.min(this.#maxMs, EVENTS / this.#ratePerMs);
    const isWorthwhile = windowMs >= WINDOW_MIN_MS && windowMs * this.#ratePerMs >= EVENTS_MIN;
    return isWorthwhile ? windowMs : 0;
  }

  #begin(nowMs: number, ratePerMs: number): void {
    this.#ratePerMs = ratePerMs;
    this.#periodStartMs = nowMs;
    this.#events = 0;
  }
}

/** Sleeps through the windows on the reflector's thread. */
export class ReadSleeper {
  readonly #window: ReadWindow;
  readonly #bell: Bell;
  readonly #maySleep: () => boolean;
  #events = 0;

  /** @param bell rung for each message of the main thread, which ends a sleep */
  constructor(maxMs: number, bell: Bell, maySleep: () => boolean) {
    this.#window = new ReadWindow(maxMs, realClock.now());
    this.#bell = bell;
    this.#maySleep = maySleep;
  }

  /** Counts events of this turn of the event loop. The thread sleeps when all sockets that are ready have been read. */
  read(events: number): void {
    if (this.#events === 0) realTimers.setImmediate(() => this.#sleep());
    this.#events += events;
  }

  #sleep(): void {
    const windowMs = this.#window.after(this.#events, realClock.now());
    this.#events = 0;
    // A message that came before the sleep is still to be handled.
    const isCalled = this.#bell.hasRung;
    if (windowMs > 0 && this.#maySleep()) this.#bell.park(() => isCalled, windowMs);
  }
}
