/** One slot of one member: carries out what the rules ask for, with one timer and at most one call in progress. */
import type { Clock, Random } from '../../base/clock.ts';
import { KubeloomError, firstLineOf, withCode } from '../../base/errors.ts';
import type { Failure, Loss } from '../leader-election/election-state.ts';
import { failureOf } from '../leader-election/election.ts';
import { LeaseCalls } from '../leader-election/lease-calls.ts';
import { signalWithCheck } from '../leader-election/leader-signal.ts';
import type { ResourceLock, StoredRecord } from '../leader-election/resource-lock.ts';
import { isHeld, newSlot, slotDueMs } from './slot-state.ts';
import type { SlotEffect, SlotEvent, SlotRules, SlotState, Wish } from './slot-state.ts';
import { slotStep } from './slot-step.ts';

/** A period in which a member owns a slot. */
export interface Tenure {
  readonly slot: number;
  /** Number of the period: greater than those of all earlier ones of the slot, whichever member had them. */
  readonly epoch: number;
  /** Aborted when the slot is lost, before another member can own it, and when draining takes too long. */
  readonly signal: AbortSignal;
  /** Aborted when the slot is handed over, or lost: the work finishes what it has begun, while the lease is renewed. */
  readonly drainSignal: AbortSignal;
  /** Reports that the first list is complete. */
  readonly synced: () => void;
}

/** The work on a slot, until one of the signals is aborted. The slot is released when its promise settles. */
export type WorkOnSlot = (tenure: Tenure) => Promise<void>;

/** @internal */
export interface SlotParts {
  readonly slot: number;
  readonly lock: ResourceLock;
  readonly rules: SlotRules;
  readonly clock: Clock;
  readonly random: Random;
  readonly wish: () => Wish;
  readonly work: WorkOnSlot;
  /** Called after each step that has changed the kind of the state. */
  readonly onChanged: (before: SlotState, after: SlotState) => void;
  readonly onError: (error: KubeloomError) => void;
}

interface Work {
  readonly lost: AbortController;
  readonly drain: AbortController;
  cancelLimit: () => void;
}

/** @internal */
export class SlotRunner {
  readonly #parts: SlotParts;
  readonly #calls: LeaseCalls;
  #state: SlotState;
  #work: Work | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(parts: SlotParts) {
    this.#parts = parts;
    this.#calls = new LeaseCalls(parts.lock, (event) => this.#happened(event));
    this.#state = newSlot(parts.clock.now());
  }

  /** The state by the clock of this moment. */
  get state(): SlotState {
    this.#check();
    return this.#state;
  }

  /** Acts on the time and on the wish. */
  tick(): void {
    this.#happened({ type: 'tick' });
  }

  /** Receives the record of the group's watch. */
  see(stored: StoredRecord | undefined): void {
    this.#happened({ type: 'seen', stored });
  }

  #check(): void {
    if (isHeld(this.#state) && this.#parts.clock.now() >= this.#state.election.untilMs) this.tick();
  }

  #happened(event: SlotEvent): void {
    const { clock, random, rules, wish, onChanged } = this.#parts;
    const before = this.#state;
    const moment = { nowMs: clock.now(), random: random(), wish: wish() };
    const { state, effects } = slotStep(before, event, moment, rules);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.#cancelTimer();
    const due = slotDueMs(this.#state, wish(), rules);
    if (due !== undefined) {
      const delayMs = Math.max(0, Math.ceil(due - clock.now()));
      this.#cancelTimer = clock.schedule(delayMs, () => this.tick());
    }
    if (state.kind !== before.kind) onChanged(before, state);
  }

  #perform(effect: SlotEffect): void {
    const { onError } = this.#parts;
    switch (effect.type) {
      case 'report':
        return onError(withCode(effect.error));
      case 'start-work':
        return void this.#start(effect.epoch);
      case 'end-work':
        return this.#endWork(effect.loss);
      case 'overdue':
        return onError(
          this.#lostError(effect.loss, 'its work has not ended; let it end when its signal is aborted'),
        );
      default:
        return this.#calls.perform(effect);
    }
  }

  #endWork(loss: Loss | undefined): void {
    const work = this.#work;
    if (loss) {
      const error = this.#lostError(loss, 'its work is aborted');
      work?.lost.abort(error);
      work?.drain.abort(error);
      this.#parts.onError(error);
    } else if (work && !work.drain.signal.aborted) {
      this.#limitDrain(work);
      work.drain.abort();
    }
  }

  #limitDrain(work: Work): void {
    const { clock, lock, rules, onError } = this.#parts;
    const { drainTimeoutMs } = rules;
    work.cancelLimit = clock.schedule(drainTimeoutMs, () => {
      const message =
        `${lock.describe()}: the work on the slot has not ended within ${drainTimeoutMs} ms (drainTimeoutMs), and is aborted; ` +
        'the slot is kept until it ends';
      const error = new KubeloomError('ERR_KUBELOOM_STILL_RUNNING', message);
      onError(error);
      work.lost.abort(error);
    });
  }

  async #start(epoch: number): Promise<void> {
    const work: Work = {
      lost: new AbortController(),
      drain: new AbortController(),
      cancelLimit: () => undefined,
    };
    this.#work = work;
    const { slot, onError } = this.#parts;
    const signal = signalWithCheck(work.lost, () => this.#check());
    const synced = (): void => {
      if (this.#work === work) this.#happened({ type: 'synced' });
    };
    const tenure: Tenure = { slot, epoch, signal, drainSignal: work.drain.signal, synced };
    const failure: Failure | undefined = await failureOf(() => this.#parts.work(tenure), tenure.drainSignal);
    work.cancelLimit();
    this.#work = undefined;
    const { kind } = this.#state;
    this.#happened({ type: 'worked', failure });
    // After a loss no step reports it.
    if (kind === 'aborted' && failure) onError(withCode(failure.error));
  }

  #lostError({ holder, failure }: Loss, consequence: string): KubeloomError {
    const last = failure === undefined ? '' : ` (${firstLineOf(failure)})`;
    const why =
      holder === undefined ? `its lease could not be renewed in time${last}` : `${holder} holds its lease`;
    const message = `${this.#parts.lock.describe()}: the slot is lost: ${why}; ${consequence}`;
    return new KubeloomError('ERR_KUBELOOM_LEADER_LOST', message, { cause: failure });
  }
}
