/**
 * The error reports of one reflector, limited: a server that sends 100,000 wrong objects a second must not
 * cause as many messages. The next report carries the count of those left out.
 */
import type { Clock } from '../base/clock.ts';
import { toErrorMessage } from '../base/errors.ts';
import type { ErrorMessage, KubeloomError } from '../base/errors.ts';

export const REPORTS_PER_WINDOW = 10;
export const WINDOW_MS = 1000;

export class LimitedErrorReports {
  readonly #clock: Clock;
  readonly #post: (during: 'list' | 'watch' | 'decode', error: ErrorMessage) => void;
  #windowStart = -Infinity;
  #inWindow = 0;
  #suppressed = 0;

  constructor(clock: Clock, post: (during: 'list' | 'watch' | 'decode', error: ErrorMessage) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  report(during: 'list' | 'watch' | 'decode', error: KubeloomError): void {
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
    this.#post(
      during,
      suppressed > 0 ? { ...message, details: { ...message.details, suppressed } } : message,
    );
  }
}
