/** One partition of one member: carries out what the rules ask for, with one timer and at most one call in progress. */
import type { Clock, Random } from '../base/clock.ts';
import { KubeloomError, firstLineOf, withCode } from '../base/errors.ts';
import type { Failure, Loss } from '../controller/leader-election/election-state.ts';
import { failureOf } from '../controller/leader-election/election.ts';
import { LeaseCalls } from '../controller/leader-election/lease-calls.ts';
import { signalWithCheck } from '../controller/leader-election/leader-signal.ts';
import type { ResourceLock, StoredRecord } from '../controller/leader-election/resource-lock.ts';
import { isHeld, newPartition, partitionDueMs } from './partition-state.ts';
import type {
  PartitionEffect,
  PartitionEvent,
  PartitionRules,
  PartitionState,
  Wish,
} from './partition-state.ts';
import { partitionStep } from './partition-step.ts';

/** A period in which a member owns a partition. */
export interface Tenure {
  readonly partition: number;
  /** Number of the period: greater than those of all earlier ones of the partition, whichever member had them. */
  readonly epoch: number;
  /** Aborted when the partition is lost, before another member can own it, and when draining takes too long. */
  readonly signal: AbortSignal;
  /** Aborted when the partition is handed over, or lost: the work finishes what it has begun, while the lease is renewed. */
  readonly drainSignal: AbortSignal;
  /** Reports that the first list is complete. */
  readonly synced: () => void;
}

/** The work on a partition, until one of the signals is aborted. The partition is released when its promise settles. */
export type WorkOnPartition = (tenure: Tenure) => Promise<void>;

/** @internal */
export interface PartitionParts {
  readonly partition: number;
  readonly lock: ResourceLock;
  readonly rules: PartitionRules;
  readonly clock: Clock;
  readonly random: Random;
  readonly wish: () => Wish;
  readonly work: WorkOnPartition;
  /** Called after each step that has changed the kind of the state. */
  readonly onChanged: (before: PartitionState, after: PartitionState) => void;
  readonly onError: (error: KubeloomError) => void;
}

interface Work {
  readonly lost: AbortController;
  readonly drain: AbortController;
  cancelLimit: () => void;
}

/** @internal */
export class PartitionRunner {
  readonly #parts: PartitionParts;
  readonly #calls: LeaseCalls;
  #state: PartitionState;
  #work: Work | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(parts: PartitionParts) {
    this.#parts = parts;
    this.#calls = new LeaseCalls(parts.lock, (event) => this.#happened(event));
    this.#state = newPartition(parts.clock.now());
  }

  /** The state by the clock of this moment. */
  get state(): PartitionState {
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

  #happened(event: PartitionEvent): void {
    const { clock, random, rules, wish, onChanged } = this.#parts;
    const before = this.#state;
    const moment = { nowMs: clock.now(), random: random(), wish: wish() };
    const { state, effects } = partitionStep(before, event, moment, rules);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.#cancelTimer();
    const due = partitionDueMs(this.#state, wish(), rules);
    if (due !== undefined) {
      const delayMs = Math.max(0, Math.ceil(due - clock.now()));
      this.#cancelTimer = clock.schedule(delayMs, () => this.tick());
    }
    if (state.kind !== before.kind) onChanged(before, state);
  }

  #perform(effect: PartitionEffect): void {
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
        `${lock.describe()}: the work on the partition has not ended within ${drainTimeoutMs} ms (drainTimeoutMs), and is aborted; ` +
        'the partition is kept until it ends';
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
    const { partition, onError } = this.#parts;
    const signal = signalWithCheck(work.lost, () => this.#check());
    const synced = (): void => {
      if (this.#work === work) this.#happened({ type: 'synced' });
    };
    const tenure: Tenure = { partition, epoch, signal, drainSignal: work.drain.signal, synced };
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
    const message = `${this.#parts.lock.describe()}: the partition is lost: ${why}; ${consequence}`;
    return new KubeloomError('ERR_KUBELOOM_LEADER_LOST', message, { cause: failure });
  }
}
