/**
 * Resync: redelivers the cache to handlers whose period is over, without a request to the server.
 *
 * An informer uses a single timer, with the shortest requested period. A handler is due at the first tick after the
 * handler's period, as in client-go.
 */
import type { Clock } from '../../base/clock.ts';
import type { ProcessorListener } from './processor-listener.ts';

const RESYNC_PERIOD_MIN_MS = 1000;
/** Node's timers may fire early: they count from a cached time in whole milliseconds. Such a tick is not skipped. */
const EARLY_MS = 50;

export interface ResyncOptions {
  readonly clock: Clock;
  /** The informer's period, also for handlers that do not request a period. 0: never. */
  readonly periodMs: number;
  readonly onDue: (due: readonly ProcessorListener[]) => void;
  /** Called when a period was raised; the text says why. */
  readonly onRaised: (message: string) => void;
}

interface Schedule {
  readonly requestedMs: number;
  periodMs: number;
  nextMs: number;
}

export class ResyncTimer {
  readonly #options: ResyncOptions;
  readonly #schedules: Map<ProcessorListener, Schedule> = new Map();
  readonly #defaultPeriodMs: number;
  #checkPeriodMs: number;
  #cancel: (() => void) | undefined;
  #phase: 'waiting' | 'running' | 'stopped' = 'waiting';

  constructor(options: ResyncOptions) {
    this.#options = options;
    this.#defaultPeriodMs = this.#atLeastMinimum(options.periodMs);
    this.#checkPeriodMs = this.#defaultPeriodMs;
  }

  /** @param wishMs 0: never; undefined: the informer's period */
  add(listener: ProcessorListener, wishMs: number | undefined): void {
    const requestedMs = wishMs === undefined ? this.#defaultPeriodMs : this.#atLeastMinimum(wishMs);
    const checkMs = this.#checkPeriodMs;
    this.#schedules.set(listener, this.#derive({ requestedMs, periodMs: 0, nextMs: 0 }));
    if (requestedMs === 0 || (checkMs > 0 && requestedMs >= checkMs)) return;
    if (this.#phase === 'waiting' || checkMs === 0) {
      // In client-go, the first handler with a period is never resynced if it is added after the start.
      this.#checkPeriodMs = requestedMs;
      for (const schedule of this.#schedules.values()) this.#derive(schedule);
      this.#arm();
      return;
    }
    this.#options.onRaised(
      `a handler's resync period of ${requestedMs} ms is raised to ${checkMs} ms, the informer's rhythm ` +
        'since its first list; add the handler before start to lower it',
    );
  }

  remove(listener: ProcessorListener): void {
    this.#schedules.delete(listener);
  }

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
    this.#cancel = this.#options.clock.schedule(this.#checkPeriodMs, () => this.#tick());
  }

  #tick(): void {
    const now = this.#options.clock.now();
    const due: ProcessorListener[] = [];
    for (const [listener, schedule] of this.#schedules) {
      listener.isResyncDue = schedule.periodMs > 0 && schedule.nextMs <= now + EARLY_MS;
      if (!listener.isResyncDue) continue;
      schedule.nextMs = now + schedule.periodMs;
      due.push(listener);
    }
    if (due.length > 0) this.#options.onDue(due);
    this.#arm();
  }

  /** Sets the effective period, which is 0 or at least the timer's period, and the end of the current period. */
  #derive(schedule: Schedule): Schedule {
    const check = this.#checkPeriodMs;
    const wanted = schedule.requestedMs;
    schedule.periodMs = check === 0 || wanted === 0 ? 0 : Math.max(wanted, check);
    schedule.nextMs = this.#options.clock.now() + schedule.periodMs;
    return schedule;
  }

  #atLeastMinimum(periodMs: number): number {
    if (periodMs === 0 || periodMs >= RESYNC_PERIOD_MIN_MS) return periodMs;
    this.#options.onRaised(
      `a resync period of ${periodMs} ms is raised to the minimum of ${RESYNC_PERIOD_MIN_MS} ms`,
    );
    return RESYNC_PERIOD_MIN_MS;
  }
}
