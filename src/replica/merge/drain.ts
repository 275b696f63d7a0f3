/**
 * The main thread's work within a budget: merge a few records, deliver a few notifications to every handler, maintain
 * the store a little, and yield to the event loop. A single drain serves all informers.
 */
import type { Clock } from '../../base/clock.ts';
import type { BacklogBudget } from '../deliver/backlog-budget.ts';
import { BLOCKED_MS } from '../deliver/handler-calls.ts';
import type { ProcessorListener } from '../deliver/processor-listener.ts';

/** Records merged between two rounds of deliveries. */
const MERGE_BATCH = 256;
/**
 * Records merged for each millisecond of the budget while a synchronous handler is far behind: 32,000 a second at a
 * batch a turn, also for the other handlers. The rest stays in the log.
 */
const MERGES_PER_MS_CONGESTED = 32;
const CONGESTED_NOTIFICATIONS = 4096;
/** Calls of a handler between two reads of the clock; fewer until the duration of the calls is measured. */
const DELIVER_BATCH_MAX = 16;

/** The source of changes: the records of the shards, or the records of the thread that shares the cache. */
export interface Merger {
  /** Takes up to `count` records; returns the number taken. */
  merge(count: number): number;
  /** Returns memory to the writers of the records; called after a merge. */
  publish(): void;
  /** Returns whether the next record is in the ring. */
  hasWork(): boolean;
}

export type Maintenance = () => boolean;

export class Drain {
  readonly #merger: Merger;
  readonly #clock: Clock;
  readonly #backlogs: BacklogBudget;
  readonly #budgetMs: number;
  readonly #mergeBatchCongested: number;
  readonly #listeners: ProcessorListener[] = [];
  /** Time used by each handler since the last turn began. */
  readonly #servedMs: Map<ProcessorListener, number> = new Map();
  /** The part of that time used after the turn; the next turn is shorter by as much. */
  #resumedMs = 0;
  /**
   * Index of the listener to serve next. It changes, so that the budget does not always end at the same heavy handler.
   */
  #first = 0;
  readonly #maintenance: Set<Maintenance> = new Set();
  /** Records merged by the last turn, which decides between parking and a short sleep. */
  lastMerged = 0;

  constructor(merger: Merger, clock: Clock, budgetMs: number, backlogs: BacklogBudget) {
    this.#merger = merger;
    this.#clock = clock;
    this.#budgetMs = budgetMs;
    this.#mergeBatchCongested = Math.min(MERGE_BATCH, Math.ceil(MERGES_PER_MS_CONGESTED * budgetMs));
    this.#backlogs = backlogs;
  }

  add(listener: ProcessorListener): void {
    this.#listeners.push(listener);
  }

  remove(listener: ProcessorListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  addMaintenance(maintenance: Maintenance): void {
    this.#maintenance.add(maintenance);
  }

  removeMaintenance(maintenance: Maintenance): void {
    this.#maintenance.delete(maintenance);
  }

  /** Works for at most the budget, less the time that `resume` used before; returns true if there is more to do. */
  runOnce(): boolean {
    const deadline = this.#clock.now() + this.#budgetMs - this.#resumedMs;
    this.#servedMs.clear();
    this.#resumedMs = 0;
    this.lastMerged = 0;
    let didWork: boolean;
    let hasMaintenance: boolean;
    do {
      const merged = this.#merge();
      this.lastMerged += merged;
      if (merged > 0) this.#merger.publish();
      for (const listener of this.#listeners) listener.arrived();
      const delivered = this.#deliver(deadline);
      hasMaintenance = false;
      let heldBytes = 0;
      for (const run of this.#maintenance) hasMaintenance = run() || hasMaintenance;
      for (const listener of this.#listeners) {
        hasMaintenance = listener.release() || hasMaintenance;
        heldBytes += listener.heldBytes;
      }
      const hasPending =
        heldBytes > this.#backlogs.backlogBytesMax && this.#backlogs.runOnce(this.#listeners, heldBytes);
      didWork = merged > 0 || delivered || hasPending;
    } while (didWork && this.#clock.now() < deadline);
    return didWork || hasMaintenance;
  }

  /**
   * Continues with a handler whose promise settled, until it used up the handler's share of the budget since the last
   * turn began. Promises settle between turns: at a single call a turn, the time of other handlers would slow an async
   * handler.
   */
  resume(listener: ProcessorListener): void {
    if (!listener.isReady) return;
    const startMs = this.#clock.now();
    const shareMs = this.#shareMs - (this.#servedMs.get(listener) ?? 0);
    if (shareMs <= 0) return;
    this.#serve(listener, startMs, shareMs);
    this.#resumedMs += this.#clock.now() - startMs;
  }

  hasWork(): boolean {
    if (this.#merger.hasWork()) return true;
    for (const listener of this.#listeners) if (listener.isReady) return true;
    return false;
  }

  /** Serves all listeners in rounds until none is ready or the budget is used up. */
  #deliver(deadline: number): boolean {
    let delivered = false;
    for (;;) {
      let calls = 0;
      for (let turn = this.#listeners.length; turn > 0; turn--) {
        this.#first = (this.#first + 1) % this.#listeners.length;
        const listener = this.#listeners[this.#first];
        if (!listener?.isReady) continue;
        const nowMs = this.#clock.now();
        calls += this.#serve(listener, nowMs, Math.min(this.#shareMs, deadline - nowMs));
        if (this.#clock.now() >= deadline) return true;
        // A handler may have removed itself or others.
        turn = Math.min(turn, this.#listeners.length);
      }
      if (calls === 0) return delivered;
      delivered = true;
    }
  }

  get #shareMs(): number {
    return this.#budgetMs / this.#listeners.length;
  }

  /**
   * Calls a handler until the handler's share of the budget is used or a promise is pending: fair in time, not in
   * calls.
   */
  #serve(listener: ProcessorListener, beginMs: number, shareMs: number): number {
    let nowMs = beginMs;
    const endMs = beginMs + shareMs;
    let calls = 0;
    let batch = 1;
    do {
      const startMs = nowMs;
      calls += listener.deliver(batch);
      nowMs = this.#clock.now();
      if (nowMs - startMs > BLOCKED_MS) listener.blocked(nowMs - startMs);
      // Only short calls are made without reading the clock in between.
      if (nowMs - startMs < shareMs / 8) batch = Math.min(batch * 2, DELIVER_BATCH_MAX);
    } while (listener.isReady && nowMs < endMs);
    this.#servedMs.set(listener, (this.#servedMs.get(listener) ?? 0) + nowMs - beginMs);
    return calls;
  }

  #merge(): number {
    return this.#merger.merge(this.#isCongested() ? this.#mergeBatchCongested : MERGE_BATCH);
  }

  #isCongested(): boolean {
    for (const listener of this.#listeners) {
      if (listener.isReady && listener.pendingNotifications > CONGESTED_NOTIFICATIONS) return true;
    }
    return false;
  }
}
