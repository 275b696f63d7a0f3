/**
 * Error reports of one reflector, limited: a server that sends a hundred thousand wrong objects a second
 * must not turn into as many messages. What was left out is counted in the next one.
 */
import type { Clock } from '../clock.ts';
import { toErrorMessage } from '../errors.ts';
import type { ErrorMessage, KubeloomError } from '../errors.ts';

export const REPORTS_PER_WINDOW = 10;
export const WINDOW_MS = 1000;

export class Reports {
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
