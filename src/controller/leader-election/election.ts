/** A run of an elector: carries out the effects of the rules, with a single timer and at most one call in progress. */
import { callGuarded } from '../../base/callbacks.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { KubeloomError, assert, firstLineOf, inspectable, withCode } from '../../base/errors.ts';
import { isAbortOf, onAbort } from '../../base/on-abort.ts';
import type { AddSample, MetricSource } from '../../metrics/collect.ts';
import { Fence, LinkedController } from '../../shared/fence.ts';
import { dueMs, newCandidate } from './election-state.ts';
import type {
  ElectionEffect,
  ElectionEvent,
  ElectionRules,
  ElectionState,
  Failure,
  Loss,
} from './election-state.ts';
import { step } from './election-step.ts';
import { LeaseCalls } from './lease-calls.ts';
import type { ResourceLock } from './resource-lock.ts';

/**
 * The work of a leader, with the signal to end it. `fence` is aborted when the leadership is lost, and not when the
 * election is stopped: with `client.fenced(fence)` the work can finish the tasks in progress.
 */
export type OnLeading = (leaderSignal: AbortSignal, fence: AbortSignal) => Promise<void>;

/** @internal */
export interface ElectionParts {
  readonly lock: ResourceLock;
  readonly rules: ElectionRules;
  readonly clock: Clock;
  readonly random: Random;
  readonly onNewLeader: (identity: string) => void;
  readonly onError: (error: KubeloomError) => void;
  /** The rules; tests replace them by wrong rules. */
  readonly step: typeof step;
}

/** @internal */
export class Election implements MetricSource {
  readonly metricsKind = 'lease';
  readonly metricsName: string;
  readonly #parts: ElectionParts;
  readonly #onLeading: OnLeading;
  /** Present from this candidate's election on. */
  #leadership: { readonly fence: Fence; readonly work: LinkedController } | undefined;
  readonly #outcome: Promise<void>;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #state: ElectionState;
  readonly #calls: LeaseCalls;
  #cancelTimer: () => void = () => undefined;
  #isWorking = false;
  #lossError: KubeloomError | undefined;
  #leader = '';
  #slowPaths = 0;

  constructor(parts: ElectionParts, onLeading: OnLeading) {
    this.metricsName = parts.lock.describe();
    this.#parts = parts;
    this.#onLeading = onLeading;
    this.#calls = new LeaseCalls(parts.lock, (event) => this.#happened(event));
    this.#state = newCandidate(parts.clock.now());
    this.#outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const unlisten = onAbort(signal, () => this.#happened({ type: 'stop' }));
    try {
      if (!signal.aborted) this.#happened({ type: 'tick' });
      await this.#outcome;
    } finally {
      unlisten();
    }
  }

  /** Whether the election continues, or the leader's work does. */
  get isBusy(): boolean {
    return this.#isWorking || this.#state.kind !== 'ended';
  }

  /** Whether this candidate holds the lease now. */
  get isLeading(): boolean {
    this.#check();
    return this.#state.kind === 'leading';
  }

  /** End of the leadership by the last renewal; in the past if this candidate does not lead. */
  get untilMs(): number {
    return this.#state.kind === 'leading' ? this.#state.untilMs : -Infinity;
  }

  /** Renews soon, because the note of the record changed. */
  renew(): void {
    this.#happened({ type: 'changed' });
  }

  /** False if the leader's work continues after the leadership ended. */
  get isHealthy(): boolean {
    return !this.#isWorking || this.isLeading;
  }

  /** The last known holder; '' before the first. */
  get leader(): string {
    return this.#leader;
  }

  addMetrics(add: AddSample, name: string): void {
    add('leader_election_slowpath_total', { name }, this.#slowPaths);
    add('leader_election_master_status', { name }, this.#state.kind === 'leading' ? 1 : 0);
  }

  #check(): void {
    const { clock } = this.#parts;
    if (this.#state.kind === 'leading' && clock.now() >= this.#state.untilMs)
      this.#happened({ type: 'tick' });
  }

  #happened(event: ElectionEvent): void {
    const { clock, random, rules } = this.#parts;
    const moment = { nowMs: clock.now(), random: random() };
    const { state, effects } = this.#parts.step(this.#state, event, moment, rules);
    if (event.type === 'failed' && isRenewal(this.#state)) this.#slowPaths++;
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    if (this.#state.kind === 'leading') this.#leadership?.fence.extend(this.#state.untilMs);
    else this.#leadership?.fence.abort(this.#lossError);
    this.#cancelTimer();
    const due = dueMs(this.#state, rules);
    if (due === undefined) return;
    const delayMs = Math.max(0, Math.ceil(due - clock.now()));
    this.#cancelTimer = clock.schedule(delayMs, () => this.#happened({ type: 'tick' }));
  }

  #perform(effect: ElectionEffect): void {
    const { onError } = this.#parts;
    switch (effect.type) {
      case 'get':
      case 'create':
      case 'update':
      case 'cancel':
        return this.#calls.perform(effect);
      case 'report':
        return onError(withCode(effect.error));
      case 'new-leader':
        this.#leader = effect.identity;
        return queueMicrotask(() => this.#reportLeader(effect.identity));
      case 'lead':
        return void this.#lead();
      case 'end-work':
        return this.#leadership?.work.abort(effect.loss && this.#lost(effect.loss));
      default:
        return this.#end(effect.loss, effect.failure);
    }
  }

  async #lead(): Promise<void> {
    assert(this.#state.kind === 'leading', 'a candidate that was elected leads');
    const fence = new Fence(this.#parts.clock, this.#state.untilMs, () => {
      this.#check();
      return this.#lossError;
    });
    const work = new LinkedController(fence.signal);
    this.#leadership = { fence, work };
    this.#isWorking = true;
    const failure = await failureOf((signal) => this.#onLeading(signal, fence.signal), work.signal);
    this.#isWorking = false;
    const isOver = !this.isBusy;
    this.#happened({ type: 'worked', failure });
    if (isOver && failure) this.#parts.onError(withCode(failure.error));
  }

  #reportLeader(identity: string): void {
    const { onNewLeader, onError } = this.#parts;
    callGuarded('onNewLeader', () => onNewLeader(identity), onError);
  }

  #end(loss: Loss | undefined, failure: Failure | undefined): void {
    if (loss) this.#reject(this.#lost(loss, failure));
    else if (failure) this.#reject(failure.error);
    else this.#resolve();
  }

  #lost({ holder, failure }: Loss, ofWork?: Failure): KubeloomError {
    if (this.#lossError && !ofWork) return this.#lossError;
    const { lock, rules } = this.#parts;
    const last = failure === undefined ? '' : ` (${firstLineOf(failure)})`;
    const why =
      holder === undefined
        ? `the lease could not be renewed for ${rules.renewDeadlineMs} ms${last}`
        : holder === rules.identity
          ? 'another process has this identity and holds the lease: give each process an identity of its own'
          : `${holder} holds the lease`;
    const message = `${lock.describe()}: ${rules.identity} is no longer the leader: ${why}; end the process, or all work of the leader`;
    const cause = ofWork ? ofWork.error : failure;
    this.#lossError = new KubeloomError('ERR_KUBELOOM_LEADER_LOST', message, { cause });
    return this.#lossError;
  }
}

/** Returns whether a renewal without a read is in progress. */
function isRenewal(state: ElectionState): boolean {
  return state.kind === 'leading' && state.pace.kind === 'calling' && state.pace.call === 'renew';
}

/** Runs the work after the present synchronous code. An end because of the signal is not a failure. */
export async function failureOf(
  onLeading: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  try {
    await Promise.resolve();
    await onLeading(signal);
    return undefined;
  } catch (thrown) {
    const error = inspectable(thrown);
    return isAbortOf(error, signal) ? undefined : { error };
  }
}
