/**
 * The states of one partition as one member sees them, the events and the effects: data only. `partition-step.ts` has the rules.
 *
 * ```
 *          claims                elected             first list complete
 *  free ───────────► claiming ───────────► syncing ───────────────────► active
 *   ▲ ▲                 │                     │        wish: leave        │
 *   │ └── held, failed ─┘                     └──────────► draining ◄─────┘
 *   │                                                         │ the work has ended
 *   ├───────────────── released, or given up ───────────── releasing
 *   │
 *   └── the work has ended ── aborted ◄── syncing, active or draining: not renewed in time, or held by another
 * ```
 *
 * A partition that is not free is an election of `../leader-election`, whose rules keep two members from one lease. All times
 * are those of the member's own monotonic clock.
 */
import { dueMs as electionDueMs } from '../controller/leader-election/election-state.ts';
import type {
  Candidate,
  ElectionEffect,
  ElectionEvent,
  ElectionRules,
  ElectionState,
  Leading,
  Loss,
  Moment,
  Observation,
  Releasing,
} from '../controller/leader-election/election-state.ts';
import { heldUntilMs } from '../controller/leader-election/election-step.ts';
import type { StoredRecord } from '../controller/leader-election/resource-lock.ts';

export interface PartitionRules extends ElectionRules {
  /** Time for which a partition must be free before a member takes it that is not its preferred owner. */
  readonly coverAfterMs: number;
  /** Time for which a work may drain before it is aborted. */
  readonly drainTimeoutMs: number;
}

/**
 * The group's decision about a partition, made anew before each step:
 *
 * - `own`: this member is the preferred owner, and takes the partition as soon as it is free;
 * - `cover`: it is not, and takes the partition only when it has been free for a while. A partition that it holds it keeps;
 * - `leave`: it hands the partition over, and does not take it.
 */
export type Wish = 'own' | 'cover' | 'leave';

export interface Free {
  readonly kind: 'free';
  readonly observed: Observation | undefined;
  /** Time from which on this member has not held or claimed the partition. */
  readonly sinceMs: number;
  /** Time before which no attempt is made. */
  readonly notBeforeMs: number;
}

export type Held = {
  /** `syncing`: the work has no complete list yet. `draining`: the work was asked to end; the lease is renewed. */
  readonly kind: 'syncing' | 'active' | 'draining';
  readonly election: Leading;
};

export type PartitionState =
  | Free
  | { readonly kind: 'claiming'; readonly election: Candidate }
  | Held
  | { readonly kind: 'releasing'; readonly election: Releasing }
  /** The work was aborted and has not ended. The partition is not claimed before it has. */
  | { readonly kind: 'aborted'; readonly election: ElectionState };

export type PartitionEvent =
  | Exclude<ElectionEvent, { readonly type: 'stop' }>
  /** The group's watch has received this record; undefined when there is none. */
  | { readonly type: 'seen'; readonly stored: StoredRecord | undefined }
  /** The work has a complete list, which is no older than the hand-over. */
  | { readonly type: 'synced' };

export type PartitionEffect =
  | Exclude<ElectionEffect, { readonly type: 'new-leader' | 'lead' | 'end' }>
  /** The work begins, in an epoch that is greater than those of all earlier works on the partition. */
  | { readonly type: 'start-work'; readonly epoch: number }
  /** Another member may own the partition from now on, and the work of this one has not ended. */
  | { readonly type: 'overdue'; readonly loss: Loss };

export interface PartitionStep {
  readonly state: PartitionState;
  readonly effects: readonly PartitionEffect[];
}

export interface PartitionMoment extends Moment {
  readonly wish: Wish;
}

export function newPartition(nowMs: number): Free {
  return { kind: 'free', observed: undefined, sinceMs: nowMs, notBeforeMs: nowMs };
}

/** Returns the time of the next tick; undefined when none is needed. */
export function partitionDueMs(state: PartitionState, wish: Wish, rules: PartitionRules): number | undefined {
  return state.kind === 'free' ? claimMs(state, wish, rules) : electionDueMs(state.election, rules);
}

/** Returns the time at which the partition is claimed; undefined when it is not. */
export function claimMs(
  { observed, sinceMs, notBeforeMs }: Free,
  wish: Wish,
  rules: PartitionRules,
): number | undefined {
  if (wish === 'leave') return undefined;
  const freeMs = observed ? heldUntilMs(observed, rules) : sinceMs;
  if (wish === 'own') return Math.max(notBeforeMs, freeMs);
  return Math.max(notBeforeMs, Math.max(freeMs, sinceMs) + rules.coverAfterMs);
}

/** Returns whether this member owns the partition: its work may run. */
export function isHeld(state: PartitionState): state is Held {
  return state.kind === 'syncing' || state.kind === 'active' || state.kind === 'draining';
}
