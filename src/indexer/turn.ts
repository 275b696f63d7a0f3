/**
 * The time for which a shard works before it publishes: a few milliseconds, however slow its modules are. So a first
 * result does not wait for a thousand others, and a thread that must be replaced loses a few milliseconds of work.
 *
 * Reading the clock takes about a twentieth of the time of a small record. So the shard reads it once per number of
 * bytes, and after every record that a user's module has processed.
 */
import type { Clock } from '../base/clock.ts';

const TURN_MS = 4;
const LOOK_BYTES = 64 * 1024;
/** Cost of a record besides its object's bytes: after 32 empty records the clock is read. */
const RECORD_BYTES: number = LOOK_BYTES / 32;

export class Turn {
  readonly #clock: Pick<Clock, 'now'>;
  #endMs = 0;
  /** Bytes since the clock was read. */
  #bytes = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  begin(): void {
    this.#endMs = this.#clock.now() + TURN_MS;
    this.#bytes = 0;
  }

  /**
   * Counts a record.
   *
   * @param bytes length of its object
   */
  spend(bytes: number): void {
    this.#bytes += RECORD_BYTES + bytes;
  }

  /** Counts work of unknown duration: the clock is read next. */
  spendMuch(): void {
    this.#bytes = LOOK_BYTES;
  }

  get isOver(): boolean {
    if (this.#bytes < LOOK_BYTES) return false;
    this.#bytes = 0;
    return this.#clock.now() >= this.#endMs;
  }
}
