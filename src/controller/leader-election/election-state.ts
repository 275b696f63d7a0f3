/**
 * The states of a candidate, the events and the effects: data only. The rules are in `election-step.ts`; `election.ts`
 * carries out the effects.
 *
 * ```
 *  candidate ── a write of the record succeeded in time ──► leading ── stopped, and the work has ended ──► releasing
 *      │                                                      │                                                │
 *      │ stopped            not renewed in time, held by another                             released, or given up
 *      │                                                      ▼                                                ▼
 *      │                                                    lost ── the work has ended, or time is up ──────► ended
 *      └─────────────────────────────────────────────────────────────────────────────────────────────────────► ▲
 * ```
 *
 * All times are read from the candidate's own monotonic clock.
 */
import type { LeaderElectionRecord, StoredRecord } from './resource-lock.ts';

export interface ElectionRules {
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly releaseOnCancel: boolean;
}

/** The last change of the record that this candidate read. */
export interface Observation {
  /** The newest version, whose record may be unchanged. */
  readonly stored: StoredRecord;
  /** Time at which the answer with the changed record arrived. */
  readonly atMs: number;
}

/**
 * - `get`: reads the record, to decide;
 * - `create`, `update`: writes the record that follows from that decision;
 * - `renew`: a leader's write without reading first, based on the last observation.
 */
export type Call = 'get' | 'create' | 'update' | 'renew';

/** The call in progress, or the time of the next call. */
export type Pace =
  | { readonly kind: 'calling'; readonly call: Call; readonly sentMs: number }
  | { readonly kind: 'waiting'; readonly untilMs: number };

interface Observing {
  readonly pace: Pace;
  readonly observed: Observation | undefined;
}

export type Candidate = Observing & { readonly kind: 'candidate' };

export type Leading = Observing & {
  readonly kind: 'leading';
  /** End of the leadership: `renewDeadlineMs` after the last successful write was sent. */
  readonly untilMs: number;
  /** `stopping`: the work must end; until it does, the lease is renewed. */
  readonly work: 'running' | 'done' | 'stopping';
  /** Error of the last call, if it failed. */
  readonly failure: unknown;
};

export interface Releasing {
  readonly kind: 'releasing';
  readonly pace: Pace;
  /** Time at which the attempt is given up. */
  readonly untilMs: number;
  /** Failure of the work. */
  readonly failure: Failure | undefined;
}

export interface Lost {
  readonly kind: 'lost';
  /** Time from which on another candidate may lead. */
  readonly untilMs: number;
  readonly loss: Loss;
}

export type ElectionState =
  | Candidate
  | Leading
  | Releasing
  /** The work must end, and the lease is no longer renewed. */
  | Lost
  | { readonly kind: 'ended' };

/** An error of the work; it may be any value, even undefined. */
export interface Failure {
  readonly error: unknown;
}

export interface Loss {
  /** The candidate that now holds the lock; undefined if the deadline passed. */
  readonly holder: string | undefined;
  /** Error of the last call, if it failed. */
  readonly failure: unknown;
}

export type ElectionEvent =
  /** A scheduled time passed. */
  | { readonly type: 'tick' }
  /** The call in progress succeeded; undefined if there is no record. */
  | {
      readonly type: 'answered';
      readonly stored: StoredRecord | undefined;
      /** The record contains this candidate's name, but another process wrote it. */
      readonly isOfTwin?: boolean;
    }
  /**
   * The call in progress failed. `isConflict`: the server holds another version of the record, and refused the write.
   */
  | { readonly type: 'failed'; readonly error: unknown; readonly isConflict: boolean }
  /** The note of the record changed: a leader renews it at once. */
  | { readonly type: 'changed' }
  /** The caller wants to end the election. */
  | { readonly type: 'stop' }
  /** The leader's work settled. */
  | { readonly type: 'worked'; readonly failure: Failure | undefined };

/** A record to be written. The time of renewal is set when it is sent, and the time of acquisition if it is empty. */
export type Draft = Omit<LeaderElectionRecord, 'renewTime'>;

export type ElectionEffect =
  | { readonly type: 'get' }
  | { readonly type: 'create'; readonly draft: Draft }
  | { readonly type: 'update'; readonly stored: StoredRecord; readonly draft: Draft }
  /** The answer of the call in progress is no longer wanted. */
  | { readonly type: 'cancel' }
  /** A call failed. */
  | { readonly type: 'report'; readonly error: unknown }
  /** A new holder of the lock: another candidate, or this candidate. */
  | { readonly type: 'new-leader'; readonly identity: string }
  | { readonly type: 'lead' }
  /** The work must end, because of a loss; undefined: because of a stop or a failure. */
  | { readonly type: 'end-work'; readonly loss: Loss | undefined }
  /** The election is over: by a loss, a failure of the work, or as the caller wanted. */
  | { readonly type: 'end'; readonly loss: Loss | undefined; readonly failure: Failure | undefined };

export interface ElectionStep {
  readonly state: ElectionState;
  readonly effects: readonly ElectionEffect[];
}

/** Inputs of a step besides state and event. */
export interface Moment {
  readonly nowMs: number;
  /** A uniform random number in [0, 1), which spreads the attempts of candidates. */
  readonly random: number;
}

/** A candidate that begins with the next tick, with an earlier observation of the record, if any. */
export function newCandidate(nowMs: number, observed?: Observation): Candidate {
  return { kind: 'candidate', pace: { kind: 'waiting', untilMs: nowMs }, observed };
}

/** Returns the time of the next tick; undefined if no tick is needed. */
export function dueMs(state: ElectionState, rules: ElectionRules): number | undefined {
  switch (state.kind) {
    case 'candidate':
      return paceDueMs(state.pace, rules);
    case 'leading':
    case 'releasing':
      return Math.min(state.untilMs, paceDueMs(state.pace, rules));
    case 'lost':
      return state.untilMs;
    default:
      return undefined;
  }
}

/**
 * Returns the time at which a wait ends, or at which a call is given up: after a lost call there is time for another.
 */
export function paceDueMs(pace: Pace, { renewDeadlineMs }: ElectionRules): number {
  return pace.kind === 'waiting' ? pace.untilMs : pace.sentMs + renewDeadlineMs / 2;
}
