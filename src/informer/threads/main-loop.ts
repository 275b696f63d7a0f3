/**
 * Schedule of the main thread's drains. It drains at once while there is work (through setImmediate, which lets other
 * tasks run), after 1 ms if the last turn was large, and otherwise when the bell rings.
 *
 * The pause of 1 ms is moderation: at high rates a wake-up costs more than the work (docs/decisions/0004).
 */
import { realTimers } from '../../base/clock.ts';
import type { RealTimers } from '../../base/clock.ts';
import type { BellWatch } from '../../shared/ring/bell-watch.ts';
import type { Drain } from '../../replica/merge/drain.ts';

const MODERATION_SEQUENCES = 32;
const MODERATION_PAUSE_MS = 1;

export type LoopTimers = Pick<RealTimers, 'setImmediate' | 'setTimeout'>;

export interface LoopWork {
  readonly drain: Drain;
  /** Undefined without other threads; every ring is then a call of `wake`. */
  readonly bell: Pick<BellWatch, 'ring' | 'parkAsync'> | undefined;
  /** Reflector and shards on this thread; they run before each turn of the drain. */
  readonly inProcess: { runOnce?(): boolean } | undefined;
}

export class MainLoop {
  readonly #timers: LoopTimers;
  readonly #pauseAfter: number;
  readonly #pausesMore: number;
  /** Undefined before the first informer runs; until then there is no work. */
  #work: LoopWork | undefined;
  /** Pauses after turns without records until the thread parks. */
  #pausesLeft = 0;
  #isScheduled = false;
  #isParked = false;
  #isStopped = false;

  /**
   * @param pauseAfter number of records above which a turn is followed by a pause
   * @param pausesMore further pauses while there are no records
   */
  constructor(timers: LoopTimers = realTimers, pauseAfter: number = MODERATION_SEQUENCES, pausesMore = 0) {
    this.#timers = timers;
    this.#pauseAfter = pauseAfter;
    this.#pausesMore = pausesMore;
  }

  start(work: LoopWork): void {
    this.#work = work;
    this.wake();
  }

  readonly wake = (): void => {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    this.#timers.setImmediate(this.#turn);
  };

  /** Wakes the loop for the bell of a role on this thread; other threads wake it through the bell itself. */
  readonly rang = (): void => {
    if (this.#work?.bell === undefined) this.wake();
  };

  stop(): void {
    this.#isStopped = true;
    // Ends the open wait.
    this.#work?.bell?.ring();
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    if (this.#isStopped || !this.#work) return;
    const { drain, inProcess } = this.#work;
    const didWork = inProcess?.runOnce?.() ?? false;
    const hasMore = drain.runOnce() || didWork;
    if (hasMore) this.wake();
    else if (drain.lastMerged > this.#pauseAfter) {
      this.#pausesLeft = this.#pausesMore;
      this.#pause();
    } else if (this.#pausesLeft > 0) {
      this.#pausesLeft--;
      this.#pause();
    } else this.#park(this.#work);
  };

  #pause(): void {
    this.#isScheduled = true;
    this.#timers.setTimeout(this.#turn, MODERATION_PAUSE_MS);
  }

  #park({ drain, bell }: LoopWork): void {
    if (!bell) {
      if (drain.hasWork()) this.wake();
      return;
    }
    if (this.#isParked) return;
    this.#isParked = true;
    void bell
      .parkAsync(() => drain.hasWork())
      .then(() => {
        this.#isParked = false;
        this.wake();
      });
  }
}
