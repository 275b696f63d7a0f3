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

interface Schedule {
  readonly requestedMs: number;
  periodMs: number;
  nextMs: number;
}

export class ResyncTimer {
  readonly #clock: Clock;
  readonly #onDue: (due: readonly ProcessorListener[]) => void;
  readonly #schedules: Map<ProcessorListener, Schedule> = new Map();
  #checkPeriodMs: number;
  #cancel: (() => void) | undefined;
  #phase: 'waiting' | 'running' | 'stopped' = 'waiting';

  constructor(clock: Clock, checkPeriodMs: number, onDue: (due: readonly ProcessorListener[]) => void) {
    this.#clock = clock;
    this.#checkPeriodMs = raise(checkPeriodMs);
    this.#onDue = onDue;
  }

  /** @param periodMs 0: never */
  add(listener: ProcessorListener, periodMs: number): void {
    const requestedMs = raise(periodMs);
    const isShorter = requestedMs > 0 && (this.#checkPeriodMs === 0 || requestedMs < this.#checkPeriodMs);
    const schedule = { requestedMs, periodMs: 0, nextMs: 0 };
    this.#schedules.set(listener, schedule);
    if (isShorter && this.#phase === 'waiting') {
      this.#checkPeriodMs = requestedMs;
      for (const other of this.#schedules.values()) this.#derive(other);
    } else if (isShorter && this.#phase === 'running' && this.#checkPeriodMs === 0) {
      // Nobody wanted any so far. (client-go would never resync this one either.)
      this.#checkPeriodMs = requestedMs;
      this.#derive(schedule);
      this.#arm();
    } else {
      this.#derive(schedule);
    }
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
    if (due.length > 0) this.#onDue(due);
    this.#arm();
  }

  #derive(schedule: Schedule): void {
    const check = this.#checkPeriodMs;
    const wanted = schedule.requestedMs;
    schedule.periodMs = check === 0 || wanted === 0 ? 0 : Math.max(wanted, check);
    schedule.nextMs = this.#clock.now() + schedule.periodMs;
  }
}

function raise(periodMs: number): number {
  return periodMs === 0 ? 0 : Math.max(periodMs, RESYNC_PERIOD_MIN_MS);
}
