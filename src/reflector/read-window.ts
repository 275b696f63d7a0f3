/**
 * The window between two reads of the sockets. Each event that is read alone wakes three threads, which costs more than its
 * work (docs/decisions/0032). So the reflector's thread sleeps after a read, and reads what has come meanwhile at once: as
 * a network card interrupts for the first packet and not for those behind it.
 *
 * The window follows the rate: 20 events at 5,000 a second, and 10 at 10,000, whose threads are busier and save less. It
 * is never longer than its option. There is none after silence, at rates at which it would be shorter than a timer is
 * exact, and while any object is listed.
 */

/** Window in ms, times the square of the rate in events a millisecond: the window is 1 ms at 10,000 events/s. */
const WINDOW_RATE_SQUARED = 100;
/** Expected events below which a window costs a wake-up and saves none. */
const EVENTS_MIN = 2;
/** Length of the periods in which the rate is measured. */
const PERIOD_MS = 10;
/** Events a millisecond below which reads seldom meet in one turn of the event loop: fewer than two in the default window. */
const RATE_SLOW_PER_MS = 0.4;
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
    const windowMs = Math.min(this.#maxMs, WINDOW_RATE_SQUARED / this.#ratePerMs ** 2);
    const isWorthwhile = windowMs >= WINDOW_MIN_MS && windowMs * this.#ratePerMs >= EVENTS_MIN;
    return isWorthwhile ? windowMs : 0;
  }

  /** Whether events come so seldom, also in the present period, that they share neither windows nor turns. */
  get isSlow(): boolean {
    return Math.max(this.#ratePerMs, this.#events / PERIOD_MS) < RATE_SLOW_PER_MS;
  }

  #begin(nowMs: number, ratePerMs: number): void {
    this.#ratePerMs = ratePerMs;
    this.#periodStartMs = nowMs;
    this.#events = 0;
  }
}
