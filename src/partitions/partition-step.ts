/**
 * The rules of a partition: one pure function. Claiming, renewing and releasing are steps of an election, which a free partition
 * begins and whose end makes it free again. This adds three things: when a partition is claimed, what its work is asked to do,
 * and that a member never has two works for one partition.
 */
import { newCandidate } from '../controller/leader-election/election-state.ts';
import type {
  ElectionEffect,
  ElectionEvent,
  ElectionState,
  Moment,
  Observation,
} from '../controller/leader-election/election-state.ts';
import { observationOf, step } from '../controller/leader-election/election-step.ts';
import { claimMs, isHeld } from './partition-state.ts';
import type {
  Free,
  Held,
  PartitionEffect,
  PartitionEvent,
  PartitionMoment,
  PartitionRules,
  PartitionState,
  PartitionStep,
} from './partition-state.ts';

export function partitionStep(
  state: PartitionState,
  event: PartitionEvent,
  moment: PartitionMoment,
  rules: PartitionRules,
): PartitionStep {
  switch (state.kind) {
    case 'free':
      return stepFree(state, event, moment, rules);
    case 'claiming': {
      const { election } = state;
      if (moment.wish === 'leave') return after(state, { type: 'stop' }, moment, rules);
      if (event.type !== 'seen')
        return isElectionEvent(event) ? after(state, event, moment, rules) : unchanged(state);
      const observed = observationOf(election.observed, event.stored, moment.nowMs);
      return unchanged({ ...state, election: { ...election, observed } });
    }
    case 'syncing':
    case 'active':
      return stepOwned(state, event, moment, rules);
    default:
      return isElectionEvent(event) ? after(state, event, moment, rules) : unchanged(state);
  }
}

function stepFree(
  state: Free,
  event: PartitionEvent,
  moment: PartitionMoment,
  rules: PartitionRules,
): PartitionStep {
  const { nowMs, wish } = moment;
  const observed =
    event.type === 'seen' ? observationOf(state.observed, event.stored, nowMs) : state.observed;
  const free: Free = { ...state, observed };
  const due = claimMs(free, wish, rules);
  if (due === undefined || nowMs < due) return unchanged(free);
  return after(
    { kind: 'claiming', election: newCandidate(nowMs, observed) },
    { type: 'tick' },
    moment,
    rules,
  );
}

function stepOwned(
  state: Held,
  event: PartitionEvent,
  moment: PartitionMoment,
  rules: PartitionRules,
): PartitionStep {
  const next: PartitionStep = isElectionEvent(event)
    ? after(state, event, moment, rules)
    : unchanged(event.type === 'synced' ? { ...state, kind: 'active' } : state);
  const { state: now, effects } = next;
  if (moment.wish !== 'leave' || (now.kind !== 'syncing' && now.kind !== 'active')) return next;
  const left = after(now, { type: 'stop' }, moment, rules);
  return { ...left, effects: [...effects, ...left.effects] };
}

/** Performs a step of the election, and derives the partition's state from the election's. */
function after(
  before: Exclude<PartitionState, Free>,
  event: ElectionEvent,
  moment: Moment,
  rules: PartitionRules,
): PartitionStep {
  const { state: election, effects } = step(before.election, event, moment, rules);
  const isWorking = hadWork(before) && event.type !== 'worked';
  return {
    state: stateOf(before, election, isWorking, moment, rules),
    effects: effects.flatMap((effect) => effectsOf(before, effect, election, isWorking)),
  };
}

function stateOf(
  before: Exclude<PartitionState, Free>,
  election: ElectionState,
  isWorking: boolean,
  { nowMs }: Moment,
  { retryPeriodMs }: PartitionRules,
): PartitionState {
  switch (election.kind) {
    case 'candidate':
      // One attempt: then the partition is free again, and the group decides anew.
      return election.pace.kind === 'calling'
        ? { kind: 'claiming', election }
        : free(election.observed, nowMs, election.pace.untilMs);
    case 'leading':
      if (election.work === 'stopping') return { kind: 'draining', election };
      return { kind: before.kind === 'active' ? 'active' : 'syncing', election };
    case 'releasing':
      return { kind: 'releasing', election };
    case 'lost':
      return { kind: 'aborted', election };
    default:
      return isWorking ? { kind: 'aborted', election } : free(undefined, nowMs, nowMs + retryPeriodMs);
  }
}

function effectsOf(
  before: Exclude<PartitionState, Free>,
  effect: ElectionEffect,
  election: ElectionState,
  isWorking: boolean,
): PartitionEffect[] {
  switch (effect.type) {
    case 'update':
      return [before.kind === 'claiming' ? withNewEpoch(effect) : effect];
    case 'new-leader':
      return [];
    case 'lead': {
      const observed = election.kind === 'leading' ? election.observed : undefined;
      return [{ type: 'start-work', epoch: observed?.stored.record.leaseTransitions ?? 0 }];
    }
    case 'end':
      if (effect.failure) return [{ type: 'report', error: effect.failure.error }];
      return effect.loss && isWorking ? [{ type: 'overdue', loss: effect.loss }] : [];
    default:
      return [effect];
  }
}

/** Each claim counts, also that of a member which holds the lease: a work never has the epoch of an earlier one. */
function withNewEpoch(effect: Extract<ElectionEffect, { readonly type: 'update' }>): PartitionEffect {
  const leaseTransitions = effect.stored.record.leaseTransitions + 1;
  return { ...effect, draft: { ...effect.draft, leaseTransitions, acquireTime: '' } };
}

/** Returns whether a work ran before this step, which only its own event ends. */
function hadWork(state: PartitionState): boolean {
  return state.kind === 'aborted' || (isHeld(state) && state.election.work !== 'done');
}

function free(observed: Observation | undefined, sinceMs: number, notBeforeMs: number): Free {
  return { kind: 'free', observed, sinceMs, notBeforeMs };
}

function unchanged(state: PartitionState): PartitionStep {
  return { state, effects: [] };
}

function isElectionEvent(
  event: PartitionEvent,
): event is Exclude<PartitionEvent, { readonly type: 'seen' | 'synced' }> {
  return event.type !== 'seen' && event.type !== 'synced';
}
