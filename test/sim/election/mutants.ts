/** Wrong rules of an election, each a wrapper of the right ones, which the simulator must find. */
import type { ElectionState } from '../../../src/controller/leader-election/election-state.ts';
import { step } from '../../../src/controller/leader-election/election-step.ts';
import type { Mutant } from './life.ts';

/** Changes the state after each step. */
function changing(change: (after: ElectionState, nowMs: number, before: ElectionState) => ElectionState) {
  return (): typeof step => (before, event, moment, rules) => {
    const { state, effects } = step(before, event, moment, rules);
    return { state: change(state, moment.nowMs, before), effects };
  };
}

function isNewTerm(
  after: ElectionState,
  before: ElectionState,
): after is ElectionState & { kind: 'leading' } {
  return after.kind === 'leading' && (before.kind !== 'leading' || after.untilMs !== before.untilMs);
}

export const MUTANTS: readonly Mutant[] = [
  {
    title: 'the time of an observation is the time that the record has',
    step: (process) => (before, event, moment, rules) => {
      const { state, effects } = step(before, event, moment, rules);
      if (!('observed' in state) || !state.observed) return { state, effects };
      const ageMs = process.wallMs() - Number(state.observed.stored.record.renewTime);
      return { state: { ...state, observed: { ...state.observed, atMs: moment.nowMs - ageMs } }, effects };
    },
  },
  {
    title: 'a leader has no deadline',
    step: changing((after) => (after.kind === 'leading' ? { ...after, untilMs: Infinity } : after)),
  },
  {
    title: 'the deadline is counted from the answer',
    step: () => (before, event, moment, rules) => {
      const { state, effects } = step(before, event, moment, rules);
      if (!isNewTerm(state, before)) return { state, effects };
      return { state: { ...state, untilMs: moment.nowMs + rules.renewDeadlineMs }, effects };
    },
  },
  {
    title: 'the deadline is counted from the next attempt, as in client-go',
    step: () => (before, event, moment, rules) => {
      const { state, effects } = step(before, event, moment, rules);
      if (!isNewTerm(state, before)) return { state, effects };
      const untilMs = moment.nowMs + rules.retryPeriodMs + rules.renewDeadlineMs;
      return { state: { ...state, untilMs }, effects };
    },
  },
  {
    title: 'the lease is released before the work has ended',
    step: () => (before, event, moment, rules) => {
      const stopped = step(before, event, moment, rules);
      if (event.type !== 'stop' || stopped.state.kind !== 'leading') return stopped;
      const worked = step(stopped.state, { type: 'worked', failure: undefined }, moment, rules);
      return { state: worked.state, effects: [...stopped.effects, ...worked.effects] };
    },
  },
  {
    title: 'a write that failed counts as a success',
    step: () => (before, event, moment, rules) => {
      const isWrite =
        'pace' in before &&
        before.pace.kind === 'calling' &&
        before.pace.call !== 'get' &&
        'observed' in before;
      if (event.type !== 'failed' || !isWrite) return step(before, event, moment, rules);
      return step(before, { type: 'answered', stored: before.observed?.stored }, moment, rules);
    },
  },
  {
    title: 'a candidate takes the lease of a leader that is alive',
    step: changing((after) =>
      after.kind === 'candidate' && after.observed
        ? { ...after, observed: { ...after.observed, atMs: -Infinity } }
        : after,
    ),
  },
  {
    title: 'a candidate never sees that a lease is over',
    step: changing((after, nowMs) =>
      after.kind === 'candidate' && after.observed
        ? { ...after, observed: { ...after.observed, atMs: nowMs } }
        : after,
    ),
  },
  { title: 'the server replaces versions that were not read', isServerCareless: true },
];
