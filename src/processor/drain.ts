/**
 * What the main thread does with its budget: merge a little, let every listener tell its handler a little,
 * tidy the store a little, and yield to the event loop. One drain serves all informers.
 */
import type { Clock } from '../clock.ts';
import type { BacklogBudget } from './backlog-budget.ts';
import type { Processor } from './processor.ts';
import type { ProcessorListener } from './processor-listener.ts';

/** Records merged between two rounds of deliveries. */
const MERGE_BATCH = 256;
/**
 * For each millisecond of the budget, so 32,000 a second at one batch a turn, while a handler that is not awaiting anything
 * is far behind: what it cannot take yet stays in the log. Others are told so much at least.
 */
const MERGES_PER_MS_CONGESTED = 32;
const CONGESTED_NOTIFICATIONS = 4096;
/** Calls of one handler before the clock is looked at; fewer while nobody knows how long they take. */
const DELIVER_BATCH_MAX = 16;

/** Small units of upkeep; each call does one and tells whether there is more. */
export type Upkeep = () => boolean;

export class Drain {
  readonly #processor: Processor;
  readonly #clock: Clock;
  readonly #backlogs: BacklogBudget;
  readonly #budgetMs: number;
  readonly #mergeBatchCongested: number;
  readonly #listeners: ProcessorListener[] = [];
  /** Who comes first in the next round: a heavy handler must not always be the one that ends the budget. */
  #first = 0;
  readonly #upkeep: Set<Upkeep> = new Set();
  /** How many records the last turn merged: decides between parking and a short sleep. */
  lastMerged = 0;

  constructor(processor: Processor, clock: Clock, budgetMs: number, backlogs: BacklogBudget) {
    this.#processor = processor;
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

  addUpkeep(upkeep: Upkeep): void {
    this.#upkeep.add(upkeep);
  }

  removeUpkeep(upkeep: Upkeep): void {
    this.#upkeep.delete(upkeep);
  }

  /** Works for at most the budget; true when there is more to do. */
  turn(): boolean {
    const deadline = this.#clock.now() + this.#budgetMs;
    this.lastMerged = 0;
    let didWork: boolean;
    let hasUpkeep: boolean;
    do {
      const merged = this.#merge();
      this.lastMerged += merged;
      if (merged > 0) this.#processor.publish();
      for (const listener of this.#listeners) listener.arrived();
      const delivered = this.#deliver(deadline);
      const isPressed = this.#backlogs.turn(this.#listeners);
      hasUpkeep = false;
      for (const upkeep of this.#upkeep) hasUpkeep = upkeep() || hasUpkeep;
      didWork = merged > 0 || delivered || isPressed;
    } while (didWork && this.#clock.now() < deadline);
    return didWork || hasUpkeep;
  }

  /** Whether a turn would find something. */
  hasWork(): boolean {
    if (this.#backlogs.mayMerge && this.#processor.hasWork()) return true;
    for (const listener of this.#listeners) if (listener.isReady) return true;
    return false;
  }

  /** Rounds over all listeners until nobody has anything or the time is over. */
  #deliver(deadline: number): boolean {
    let delivered = false;
    for (;;) {
      let calls = 0;
      for (let turn = this.#listeners.length; turn > 0; turn--) {
        this.#first = (this.#first + 1) % this.#listeners.length;
        const listener = this.#listeners[this.#first];
        if (!listener?.isReady) continue;
        calls += this.#serve(listener, deadline);
        if (this.#clock.now() >= deadline) return true;
        // A handler may have removed itself or others.
        turn = Math.min(turn, this.#listeners.length);
      }
      if (calls === 0) return delivered;
      delivered = true;
    }
  }

  /** Calls one handler until its share of the budget is over: fair in time, not in calls. */
  #serve(listener: ProcessorListener, deadline: number): number {
    let nowMs = this.#clock.now();
    const shareMs = Math.min(this.#budgetMs / this.#listeners.length, deadline - nowMs);
    const endMs = nowMs + shareMs;
    let calls = 0;
    let batch = 1;
    do {
      const startMs = nowMs;
      calls += listener.deliver(batch);
      nowMs = this.#clock.now();
      // Only calls that take little time are made without a look at the clock.
      if (nowMs - startMs < shareMs / 8) batch = Math.min(batch * 2, DELIVER_BATCH_MAX);
    } while (listener.isReady && nowMs < endMs);
    return calls;
  }

  #merge(): number {
    if (!this.#backlogs.mayMerge) return 0;
    return this.#processor.merge(this.#isCongested() ? this.#mergeBatchCongested : MERGE_BATCH);
  }

  #isCongested(): boolean {
    for (const listener of this.#listeners) {
      if (listener.isReady && listener.pendingNotifications > CONGESTED_NOTIFICATIONS) return true;
    }
    return false;
  }
}
