/**
 * Resync: redelivers the local cache to the handlers whose period is over; it never talks to the server.
 *
 * One timer an informer, at the shortest period asked for; a handler whose own period is over is due at
 * the next tick, as in client-go.
 */
import type { Clock } from '../clock.ts';
import type { ProcessorListener } from './processor-listener.ts';

/** client-go's minimum; shorter wishes are raised to it. */
export const RESYNC_PERIOD_MIN_MS = 1000;
/** Node's timers count from a cached time in whole milliseconds, so they fire early at times: no reason to skip. */
const EARLY_MS = 50;

/** A longer delay fires at once (setTimeout takes 31 bits); a tick too many finds nobody due. */
const DELAY_MS_MAX = 2 ** 31 - 1;

export interface ResyncOptions {
  readonly clock: Clock;
  /** Of the informer: the rhythm, and the period of handlers without a wish. 0: never. */
  readonly periodMs: number;
  readonly onDue: (due: readonly ProcessorListener[]) => void;
  /** A period was raised; the text says why. */
  readonly onRaised: (message: string) => void;
}

interface Schedule {
  readonly requestedMs: number;
  periodMs: number;
  nextMs: number;
}

export class ResyncTimer {
  readonly #clock: Clock;
  readonly #options: ResyncOptions;
  readonly #schedules: Map<ProcessorListener, Schedule> = new Map();
  readonly #defaultPeriodMs: number;
  #checkPeriodMs: number;
  #cancel: (() => void) | undefined;
  #phase: 'waiting' | 'running' | 'stopped' = 'waiting';

  constructor(options: ResyncOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#defaultPeriodMs = this.#atLeastMinimum(options.periodMs);
    this.#checkPeriodMs = this.#defaultPeriodMs;
  }

  /** The rhythm: 0 while nobody wants any. */
  get checkPeriodMs(): number {
    return this.#checkPeriodMs;
  }

  /** What became of the wish: 0, or at least the rhythm. */
  periodMs(listener: ProcessorListener): number {
    return this.#schedules.get(listener)?.periodMs ?? 0;
  }

  /** @param wishMs 0: never; undefined: the informer's */
  add(listener: ProcessorListener, wishMs: number | undefined): void {
    const requestedMs = wishMs === undefined ? this.#defaultPeriodMs : this.#atLeastMinimum(wishMs);
    const checkMs = this.#checkPeriodMs;
    const schedule = { requestedMs, periodMs: 0, nextMs: 0 };
    this.#schedules.set(listener, schedule);
    const isShorter = requestedMs > 0 && (checkMs === 0 || requestedMs < checkMs);
    if (isShorter && this.#phase === 'waiting') {
      this.#checkPeriodMs = requestedMs;
      for (const other of this.#schedules.values()) this.#derive(other);
      return;
    }
    if (isShorter && this.#phase === 'running' && checkMs === 0) {
      // Nobody wanted any so far. (client-go would never resync this one either.)
      this.#checkPeriodMs = requestedMs;
      this.#arm();
    } else if (isShorter) {
      this.#options.onRaised(
        `a handler's resync period of ${requestedMs} ms is raised to ${checkMs} ms, the informer's rhythm ` +
          'since its first list; add the handler before start to lower it',
      );
    }
    this.#derive(schedule);
  }

  remove(listener: ProcessorListener): void {
    this.#schedules.delete(listener);
  }

  /** The cache has synced: periods count from here. */
  start(): void {
    if (this.#phase !== 'waiting') return;
    this.#phase = 'running';
    for (const schedule of this.#schedules.values()) this.#derive(schedule);
    this.#arm();
  }

  stop(): void {
    this.#phase = 'stopped';
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    if (this.#phase !== 'running' || this.#checkPeriodMs === 0) return;
    const delayMs = Math.min(this.#checkPeriodMs, DELAY_MS_MAX);
    this.#cancel = this.#clock.schedule(delayMs, () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.now();
    const due: ProcessorListener[] = [];
    for (const [listener, schedule] of this.#schedules) {
      listener.isSyncing = schedule.periodMs > 0 && schedule.nextMs <= now + EARLY_MS;
      if (!listener.isSyncing) continue;
      schedule.nextMs = now + schedule.periodMs;
      due.push(listener);
    }
    if (due.length > 0) this.#options.onDue(due);
    this.#arm();
  }

  #derive(schedule: Schedule): void {
    const check = this.#checkPeriodMs;
    const wanted = schedule.requestedMs;
    schedule.periodMs = check === 0 || wanted === 0 ? 0 : Math.max(wanted, check);
    schedule.nextMs = this.#clock.now() + schedule.periodMs;
  }

  #atLeastMinimum(periodMs: number): number {
    if (periodMs === 0 || periodMs >= RESYNC_PERIOD_MIN_MS) return periodMs;
    this.#options.onRaised(
      `a resync period of ${periodMs} ms is raised to the minimum of ${RESYNC_PERIOD_MIN_MS} ms`,
    );
    return RESYNC_PERIOD_MIN_MS;
  }
}
