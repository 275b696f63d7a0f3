/**
 * The rules of an election: a pure function from a state and an event to the next state and the effects. They are the
 * rules of client-go's leaderelection, but stricter where client-go lets two candidates lead for a moment:
 *
 * - a leadership ends `renewDeadlineMs` after the last successful write was *sent*. The other candidates wait longer,
 *   `leaseDurationMs`, and from a later moment, when they read that write. client-go counts from the answer, and adds
 *   the pause before the next attempt;
 * - a write that succeeded too late, because the process was suspended, does not make the candidate a leader;
 * - a leader that reads the name of another holder stops at once, not at the deadline; so does a leader that reads its
 *   own name with a renewal that it did not send: another process uses the same identity;
 * - the lease is renewed until the work ends, also after a stop.
 */
import { KubeloomError } from '../../base/errors.ts';
import { retryAfterMs } from '../../kube/retry.ts';
import { paceDueMs } from './election-state.ts';
import type {
  Call,
  Candidate,
  Draft,
  ElectionEffect,
  ElectionEvent,
  ElectionRules,
  ElectionState,
  ElectionStep,
  Failure,
  Leading,
  Loss,
  Lost,
  Moment,
  Observation,
  Pace,
  Releasing,
} from './election-state.ts';
import { isSameRecord } from './resource-lock.ts';
import type { LeaderElectionRecord, StoredRecord } from './resource-lock.ts';

/** client-go's: pauses between attempts of a candidate are up to 1 + 1.2 retry periods. */
export const JITTER_FACTOR = 1.2;

export function step(
  state: ElectionState,
  event: ElectionEvent,
  moment: Moment,
  rules: ElectionRules,
): ElectionStep {
  switch (state.kind) {
    case 'candidate':
      return stepCandidate(state, event, moment, rules);
    case 'leading':
      if (moment.nowMs < state.untilMs) return stepLeading(state, event, moment, rules);
      return then(lose(state, { holder: undefined, failure: state.failure }, rules), (lost) =>
        step(lost, event, moment, rules),
      );
    case 'releasing':
      return stepReleasing(state, event, moment, rules);
    case 'lost':
      return stepLost(state, event, moment);
    default:
      return { state, effects: [] };
  }
}

function stepCandidate(
  state: Candidate,
  event: ElectionEvent,
  { nowMs, random }: Moment,
  rules: ElectionRules,
): ElectionStep {
  const { pace } = state;
  const pauseMs = rules.retryPeriodMs * (1 + JITTER_FACTOR * random);
  const wait = (effects: readonly ElectionEffect[], atLeastMs = 0): ElectionStep => ({
    state: { ...state, pace: { kind: 'waiting', untilMs: nowMs + Math.max(pauseMs, atLeastMs) } },
    effects,
  });
  switch (event.type) {
    case 'tick':
      if (nowMs < paceDueMs(pace, rules)) return { state, effects: [] };
      if (pace.kind === 'waiting') return call(state, { type: 'get' }, nowMs);
      return wait([...cancel(pace), report(timedOut(pace.call, nowMs - pace.sentMs))]);
    case 'failed':
      return wait(event.isConflict ? [] : [report(event.error)], retryAfterMs(event.error));
    case 'answered':
      return isWrite(pace)
        ? elected(state, pace.sentMs, event.stored, nowMs, rules)
        : then(observe(state, event.stored, nowMs), (seen) =>
            isHeld(seen, nowMs, rules)
              ? { state: { ...seen, pace: { kind: 'waiting', untilMs: nowMs + pauseMs } }, effects: [] }
              : write(seen, event.stored, nowMs, rules),
          );
    case 'stop':
      return end(cancel(pace), undefined, undefined);
    default:
      return { state, effects: [] };
  }
}

/**
 * Begins to lead, unless the write was sent so long ago that the lease may end too soon: in that case the candidate
 * tries again.
 */
function elected(
  state: Candidate,
  sentMs: number,
  stored: StoredRecord | undefined,
  nowMs: number,
  rules: ElectionRules,
): ElectionStep {
  const untilMs = sentMs + rules.renewDeadlineMs;
  return then(observe(state, stored, nowMs), (seen) => {
    if (nowMs >= untilMs) return call(seen, { type: 'get' }, nowMs);
    const pace: Pace = { kind: 'waiting', untilMs: nowMs + rules.retryPeriodMs };
    return {
      state: { ...seen, kind: 'leading', pace, untilMs, work: 'running', failure: undefined },
      effects: [{ type: 'lead' }],
    };
  });
}

function stepLeading(
  state: Leading,
  event: ElectionEvent,
  { nowMs }: Moment,
  rules: ElectionRules,
): ElectionStep {
  const { pace, work } = state;
  switch (event.type) {
    case 'tick':
      if (nowMs < paceDueMs(pace, rules)) return { state, effects: [] };
      if (pace.kind === 'waiting') return renew(state, nowMs, rules);
      return then({ state, effects: cancel(pace) }, (given) =>
        retry(given, pace.call, timedOut(pace.call, nowMs - pace.sentMs), false, nowMs, rules),
      );
    case 'failed':
      return pace.kind === 'calling'
        ? retry(state, pace.call, event.error, event.isConflict, nowMs, rules)
        : { state, effects: [] };
    case 'answered':
      return answered(state, event.stored, event.isOfTwin ?? false, nowMs, rules);
    case 'changed':
      return pace.kind === 'waiting' ? renew(state, nowMs, rules) : { state, effects: [] };
    case 'stop':
      if (work === 'done') return release(state, undefined, nowMs, rules);
      if (work === 'stopping') return { state, effects: [] };
      return { state: { ...state, work: 'stopping' }, effects: [{ type: 'end-work', loss: undefined }] };
    default:
      if (work === 'running' && !event.failure) return { state: { ...state, work: 'done' }, effects: [] };
      return release(state, event.failure, nowMs, rules);
  }
}

/** Writes without reading first: usually the record is unchanged since the last renewal. */
function renew(state: Leading, nowMs: number, rules: ElectionRules): ElectionStep {
  const { observed } = state;
  if (!observed) return call(state, { type: 'get' }, nowMs);
  const { stored } = observed;
  return call(state, { type: 'update', stored, draft: renewal(stored.record, rules) }, nowMs, 'renew');
}

/**
 * Continues after a failed call: a renewal reads the record at once, any other call pauses. The leadership is not lost
 * yet.
 */
function retry(
  state: Leading,
  failed: Call,
  error: unknown,
  isConflict: boolean,
  nowMs: number,
  { retryPeriodMs }: ElectionRules,
): ElectionStep {
  const effects = isConflict ? [] : [report(error)];
  const next: Leading = {
    ...state,
    pace: { kind: 'waiting', untilMs: nowMs + retryPeriodMs },
    failure: error,
  };
  if (failed !== 'renew') return { state: next, effects };
  return then({ state: next, effects }, (given) => call(given, { type: 'get' }, nowMs));
}

function answered(
  state: Leading,
  stored: StoredRecord | undefined,
  isOfTwin: boolean,
  nowMs: number,
  rules: ElectionRules,
): ElectionStep {
  const { pace } = state;
  return then(observe(state, stored, nowMs), (seen) => {
    if (isWrite(pace)) {
      const next: Pace = { kind: 'waiting', untilMs: nowMs + rules.retryPeriodMs };
      const untilMs = pace.sentMs + rules.renewDeadlineMs;
      return { state: { ...seen, pace: next, untilMs, failure: undefined }, effects: [] };
    }
    const holder = stored?.record.holderIdentity ?? '';
    if (holder === '' || (holder === rules.identity && !isOfTwin)) return write(seen, stored, nowMs, rules);
    return lose(seen, { holder, failure: undefined }, rules);
  });
}

function lose(state: Leading, loss: Loss, rules: ElectionRules): ElectionStep {
  const { pace, work, untilMs } = state;
  const effects: readonly ElectionEffect[] = [...cancel(pace), { type: 'end-work', loss }];
  if (work === 'done') return end(effects, loss, undefined);
  const freeMs = loss.holder === undefined ? untilMs + rules.leaseDurationMs - rules.renewDeadlineMs : 0;
  return { state: { kind: 'lost', untilMs: freeMs, loss }, effects };
}

function stepLost(state: Lost, event: ElectionEvent, { nowMs }: Moment): ElectionStep {
  const { loss, untilMs } = state;
  if (event.type === 'worked') return end([], loss, event.failure);
  return nowMs < untilMs ? { state, effects: [] } : end([], loss, undefined);
}

/** Gives the lease up after the work ended. */
function release(
  { pace }: Leading,
  failure: Failure | undefined,
  nowMs: number,
  { releaseOnCancel, renewDeadlineMs }: ElectionRules,
): ElectionStep {
  const effects: readonly ElectionEffect[] = [...cancel(pace), { type: 'end-work', loss: undefined }];
  if (!releaseOnCancel) return end(effects, undefined, failure);
  const state: Releasing = { kind: 'releasing', pace, untilMs: nowMs + renewDeadlineMs, failure };
  return then({ state, effects }, (releasing) => call(releasing, { type: 'get' }, nowMs));
}

/** Reads the record and empties it. A conflict may come from a renewal whose answer was not awaited. */
function stepReleasing(
  state: Releasing,
  event: ElectionEvent,
  { nowMs }: Moment,
  rules: ElectionRules,
): ElectionStep {
  const { pace, failure } = state;
  const isLate = nowMs >= Math.min(state.untilMs, paceDueMs(pace, rules));
  if (event.type === 'failed' && event.isConflict && !isLate) return call(state, { type: 'get' }, nowMs);
  if (event.type === 'failed') return end([report(event.error)], undefined, failure);
  if (event.type === 'answered') {
    const { stored } = event;
    if (isWrite(pace) || stored?.record.holderIdentity !== rules.identity) return end([], undefined, failure);
    const draft = { ...renewal(stored.record, rules), ...RELEASED };
    return call(state, { type: 'update', stored, draft }, nowMs);
  }
  if (!isLate || pace.kind === 'waiting') return { state, effects: [] };
  return end([...cancel(pace), report(timedOut(pace.call, nowMs - pace.sentMs))], undefined, failure);
}

/** The duration is the shortest that the server accepts. */
const RELEASED = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: '' };

/**
 * Writes the record that follows from the record that was read: a first record, a renewal, or a record with this
 * holder.
 */
function write<S extends Candidate | Leading>(
  state: S,
  stored: StoredRecord | undefined,
  nowMs: number,
  rules: ElectionRules,
): Step<S> {
  // A lease that was deleted continues with its number of transitions.
  const record = (stored ?? state.observed?.stored)?.record;
  const isOwn = record?.holderIdentity === rules.identity;
  const draft = isOwn ? renewal(record, rules) : acquisition((record?.leaseTransitions ?? -1) + 1, rules);
  if (!stored) return call(state, { type: 'create', draft }, nowMs);
  return call(state, { type: 'update', stored, draft }, nowMs);
}

function acquisition(leaseTransitions: number, rules: ElectionRules): Draft {
  const { identity, leaseDurationMs } = rules;
  // Rounded up: other candidates must wait at least for this candidate's own duration.
  const leaseDurationSeconds = Math.ceil(leaseDurationMs / 1000);
  return { holderIdentity: identity, leaseDurationSeconds, leaseTransitions, acquireTime: '' };
}

function renewal({ leaseTransitions, acquireTime }: LeaderElectionRecord, rules: ElectionRules): Draft {
  return { ...acquisition(leaseTransitions, rules), acquireTime };
}

/** Returns whether another candidate holds the lock, and renewed it within the duration in the record. */
function isHeld({ observed }: Candidate, nowMs: number, rules: ElectionRules): boolean {
  return observed !== undefined && nowMs < heldUntilMs(observed, rules);
}

/**
 * Returns the time until which another candidate's record is left alone: the time of the observation if no candidate
 * holds it.
 */
export function heldUntilMs(
  { stored, atMs }: Observation,
  { identity, leaseDurationMs }: ElectionRules,
): number {
  const { holderIdentity, leaseDurationSeconds } = stored.record;
  if (holderIdentity === '' || holderIdentity === identity) return atMs;
  return atMs + (leaseDurationSeconds * 1000 || leaseDurationMs);
}

/** Stores the server's state as the observation. */
function observe<S extends Candidate | Leading>(
  state: S,
  stored: StoredRecord | undefined,
  nowMs: number,
): Step<S> {
  const observed = observationOf(state.observed, stored, nowMs);
  const identity = stored?.record.holderIdentity ?? '';
  const isNew = identity !== '' && identity !== state.observed?.stored.record.holderIdentity;
  return { state: { ...state, observed }, effects: isNew ? [{ type: 'new-leader', identity }] : [] };
}

/**
 * Returns the observation after an answer. Only a changed record counts as observed now: time is the candidate's own. A
 * deleted lease is not a released lease: other candidates wait for its holder as long as before.
 */
function observationOf(
  before: Observation | undefined,
  stored: StoredRecord | undefined,
  nowMs: number,
): Observation | undefined {
  if (!stored) return before;
  const isSame = before !== undefined && isSameRecord(before.stored.record, stored.record);
  return { stored, atMs: isSame ? before.atMs : nowMs };
}

interface Step<S extends ElectionState> extends ElectionStep {
  readonly state: S;
}

/** Adds a further step, and the effects of both. */
function then<S extends ElectionState, T extends ElectionStep>(
  { state, effects }: Step<S>,
  next: (state: S) => T,
): T {
  const following = next(state);
  return { ...following, effects: [...effects, ...following.effects] };
}

type Sent = Extract<ElectionEffect, { readonly type: 'get' | 'create' | 'update' }>;

function call<S extends Candidate | Leading | Releasing>(
  state: S,
  effect: Sent,
  nowMs: number,
  name: Call = effect.type,
): Step<S> {
  return { state: { ...state, pace: { kind: 'calling', call: name, sentMs: nowMs } }, effects: [effect] };
}

function cancel(pace: Pace): ElectionEffect[] {
  return pace.kind === 'calling' ? [{ type: 'cancel' }] : [];
}

function end(
  effects: readonly ElectionEffect[],
  loss: Loss | undefined,
  failure: Failure | undefined,
): ElectionStep {
  return { state: { kind: 'ended' }, effects: [...effects, { type: 'end', loss, failure }] };
}

function report(error: unknown): ElectionEffect {
  return { type: 'report', error };
}

function timedOut(call: Call, afterMs: number): KubeloomError {
  const message = `${call} of the lease: no answer within ${Math.round(afterMs)} ms; it is tried again`;
  return new KubeloomError('ERR_KUBELOOM_STALLED', message);
}

function isWrite(pace: Pace): pace is Extract<Pace, { kind: 'calling' }> {
  return pace.kind === 'calling' && pace.call !== 'get';
}
