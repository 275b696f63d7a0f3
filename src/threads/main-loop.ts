/**
 * When the main thread drains: at once while there is work (through setImmediate, so that everything else
 * gets its turn), after a millisecond when the last turn was large, and else when its bell rings.
 *
 * The pause of 1 ms is moderation: at high rates a wake-up costs more than the work (docs/decisions/0004).
 */
import { realTimers } from '../clock.ts';
import type { RealTimers } from '../clock.ts';
import type { Bell } from '../ring/bell.ts';
import type { Drain } from '../processor/drain.ts';

const MODERATION_SEQUENCES = 32;
const MODERATION_PAUSE_MS = 1;

export type LoopTimers = Pick<RealTimers, 'setImmediate' | 'setTimeout'>;
export type LoopBell = Pick<Bell, 'ring' | 'parkAsync'>;

export class MainLoop {
  readonly #drain: Drain;
  readonly #bell: LoopBell;
  /** The twin's own work on this thread, before each turn. */
  readonly #before: () => boolean;
  readonly #timers: LoopTimers;
  #isScheduled = false;
  #isParked = false;
  #isStopped = false;

  constructor(
    drain: Drain,
    bell: LoopBell,
    before: () => boolean = () => false,
    timers: LoopTimers = realTimers,
  ) {
    this.#drain = drain;
    this.#bell = bell;
    this.#before = before;
    this.#timers = timers;
  }

  /** Something may have to be done soon. */
  readonly kick = (): void => {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    this.#timers.setImmediate(this.#turn);
  };

  stop(): void {
    this.#isStopped = true;
    // Ends the open wait.
    this.#bell.ring();
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    if (this.#isStopped) return;
    const before = this.#before();
    const hasMore = this.#drain.turn() || before;
    if (hasMore) this.kick();
    else if (this.#drain.lastMerged > MODERATION_SEQUENCES) this.#pause();
    else this.#park();
  };

  #pause(): void {
    this.#isScheduled = true;
    this.#timers.setTimeout(this.#turn, MODERATION_PAUSE_MS);
  }

  #park(): void {
    if (this.#isParked) return;
    this.#isParked = true;
    void this.#bell
      .parkAsync(() => this.#drain.hasWork())
      .then(() => {
        this.#isParked = false;
        this.kick();
      });
  }
}
