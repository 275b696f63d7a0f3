/**
 * Schedule of the main thread's drains. It drains at once while there is work (through setImmediate, which lets other
 * tasks run), after 1 ms when the last turn was large, and otherwise when its bell rings.
 *
 * The pause of 1 ms is moderation: at high rates a wake-up costs more than the work (docs/decisions/0004).
 */
import { realTimers } from '../../base/clock.ts';
import type { RealTimers } from '../../base/clock.ts';
import type { Bell } from '../../shared/ring/bell.ts';
import type { Drain } from '../../replica/merge/drain.ts';

const MODERATION_SEQUENCES = 32;
const MODERATION_PAUSE_MS = 1;

export type LoopTimers = Pick<RealTimers, 'setImmediate' | 'setTimeout'>;
export type LoopBell = Pick<Bell, 'ring' | 'parkAsync'>;

export class MainLoop {
  readonly #drain: Drain;
  readonly #bell: LoopBell;
  /** Work of the in-process twin, done before each turn. */
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

  /** Requests a turn. */
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
