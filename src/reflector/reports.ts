/** The messages of a reflector to the main thread that are limited in number: errors, and the progress of a list. */
import type { Clock } from '../base/clock.ts';
import { toErrorMessage } from '../base/errors.ts';
import type { ErrorMessage, KubeloomError } from '../base/errors.ts';
import type { ListingProgress } from '../shared/protocol.ts';
import type { Failure } from './rules/state.ts';

export const REPORTS_PER_WINDOW = 10;
export const WINDOW_MS = 1000;
export const PROGRESS_INTERVAL_MS = 100;

/**
 * Limits error reports: a server that sends 100,000 wrong objects a second must not cause as many messages. The next
 * report counts the omitted reports.
 */
export class ErrorRateLimit {
  readonly #clock: Clock;
  readonly #post: (during: Failure['during'], error: ErrorMessage) => void;
  #windowStart = -Infinity;
  #inWindow = 0;
  #suppressed = 0;

  constructor(clock: Clock, post: (during: Failure['during'], error: ErrorMessage) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  report(during: Failure['during'], error: KubeloomError): void {
    const now = this.#clock.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#inWindow = 0;
    }
    if (this.#inWindow >= REPORTS_PER_WINDOW) {
      this.#suppressed++;
      return;
    }
    this.#inWindow++;
    const message = toErrorMessage(error);
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    const details = { ...message.details, suppressed };
    this.#post(during, suppressed > 0 ? { ...message, details } : message);
  }
}

/** Counts the items and pages of a list, and posts the counts at intervals. */
export class ListMeter {
  items = 0;
  bytes = 0;
  readonly #clock: Clock;
  readonly #post: (progress: ListingProgress) => void;
  #expectedItems: number | undefined;
  #postedAt = -Infinity;

  constructor(clock: Clock, post: (progress: ListingProgress) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  begin(): void {
    this.items = 0;
    this.bytes = 0;
    this.#expectedItems = undefined;
    this.#postedAt = this.#clock.now();
  }

  read(bytes: number): void {
    this.bytes += bytes;
    if (this.#clock.now() - this.#postedAt >= PROGRESS_INTERVAL_MS) this.#postNow();
  }

  /** @param remainingItems the server's count of the items on further pages */
  page(remainingItems: number | undefined): void {
    if (remainingItems !== undefined) this.#expectedItems = this.items + remainingItems;
  }

  /** Posts the last counts: the list is complete. */
  end(): void {
    if (this.#expectedItems !== undefined) this.#expectedItems = this.items;
    this.#postNow();
  }

  #postNow(): void {
    this.#postedAt = this.#clock.now();
    const expected = this.#expectedItems === undefined ? {} : { expectedItems: this.#expectedItems };
    this.#post({ items: this.items, bytes: this.bytes, ...expected });
  }
}
