/**
 * A member's view of the group, the events and the effects: data only. The rules are in `member-step.ts`.
 *
 * ```
 *           wanted, and free                              caches filled
 *  other ───────────────────► claiming ──────► syncing ──────────────────► active
 *   ▲ ▲                          │                │   another owner preferred, stop │
 *   │ └──── failed, conflict ────┘                └───────────► draining ◄──────────┘
 *   │                                                             │ the work ended, or is overdue
 *   ├────────────────── released, the work ended ────────────── releasing
 *   │                                                             │ released, the work continues
 *   └── the work ended ────── aborted ◄───── the member's life is over, or another owner was seen
 * ```
 *
 * A partition's Lease names the *life* of its owner, and is valid as long as the heartbeat of that life is. A life that
 * missed the deadline is over for good: the member continues with a new life, `IDENTITY.INCARNATION.2`, and claims
 * partitions again. All times are read from the member's own monotonic clock.
 */
import type { Failure } from '../controller/leader-election/election-state.ts';
import type { StoredRecord } from '../controller/leader-election/resource-lock.ts';
import type { Heartbeat } from './heartbeat.ts';

export interface MemberRules {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** Time for which work may drain before it is aborted. */
  readonly drainTimeoutMs: number;
  readonly partitionCount: number;
  readonly division: string;
}

/**
 * A life of another member, or a former life of this member. `gone`: the life owns no partition and never will again,
 * because the heartbeat on the server says so. A member has no other judgement of a life.
 */
export interface Peer {
  readonly kind: 'seen' | 'gone';
  readonly heartbeat: Heartbeat;
  /** Time at which the life is deposed, or a heartbeat that is over is deleted; each attempt moves it. */
  readonly dueMs: number;
  /** `seen`: an earlier version with the same division was seen, so the life renews and means it. */
  readonly renewal: 'awaited' | 'seen';
}

/** The newest state of a partition's Lease that this member received. */
export interface KnownLease {
  /** Undefined after the Lease was deleted; the other fields keep their last values. */
  readonly stored: StoredRecord | undefined;
  readonly version: string;
  /** Empty after the last owner released the partition. */
  readonly owner: string;
  readonly epoch: number;
  /** Time at which the Lease was received, or was last restored. */
  readonly atMs: number;
}

export type Phase =
  | { readonly kind: 'other'; readonly notBeforeMs: number }
  | { readonly kind: 'claiming' }
  /** `hasWork`: false if the work ended although the partition stays. */
  | { readonly kind: 'syncing' | 'active'; readonly epoch: number; readonly hasWork: boolean }
  /** `dueMs`: the time at which the work is aborted, or the partition is released while the work continues. */
  | {
      readonly kind: 'draining';
      readonly epoch: number;
      readonly hasWork: true;
      readonly dueMs: number;
      readonly isAborted: boolean;
    }
  | {
      readonly kind: 'releasing';
      readonly isWorking: boolean;
      /** Time of the next attempt; undefined while a request is in progress. */
      readonly retryMs: number | undefined;
      readonly notBeforeMs?: number;
    }
  | { readonly kind: 'aborted' };

export interface Partition {
  readonly lease: KnownLease | undefined;
  readonly phase: Phase;
  /** Failures of the work since the work was last active. */
  readonly failures: number;
  /** The last failure, until the member may be preferred again. */
  readonly cannotTake: { readonly since: string; readonly untilMs: number } | undefined;
  /** Time at which this member gives up its first partition, if the owner has not handed it over. */
  readonly giveUpMs: number | undefined;
  /** Time since which no member works on the partition, as far as this member sees. */
  readonly unservedSinceMs: number | undefined;
}

export type Life =
  /** The first heartbeat is not written yet. */
  | { readonly kind: 'none' }
  /**
   * `seen`: the member's watch delivered the heartbeat; the member claims from `settledMs` on. A partition without a
   * Lease is free from `missingFreeMs` on: in a group with other working members, a missing Lease was deleted, and the
   * owner may not have reported the partition yet.
   */
  | {
      readonly kind: 'alive';
      readonly id: string;
      readonly seen: Seen | undefined;
      readonly missingFreeMs: number;
    }
  /** All partitions are handed over. */
  | { readonly kind: 'ended' };

export interface Seen {
  readonly heartbeat: Heartbeat;
  readonly atMs: number;
  readonly settledMs: number;
}

export interface MemberState {
  readonly life: Life;
  readonly isLeaving: boolean;
  /** The lives of this process begin with it; empty before the first life. */
  readonly process: string;
  /**
   * Time until which this process is preferred only for what no other member can take, because members ended without a
   * release before it began; undefined without such ends.
   */
  readonly youngUntilMs: number | undefined;
  readonly peers: ReadonlyMap<string, Peer>;
  readonly partitions: readonly Partition[];
  /** Preferred owners: lives. Undefined after a change, until a decision computes them. */
  readonly owners: readonly (string | undefined)[] | undefined;
  /** Time of the last decision: what came due until then is done. */
  readonly decidedMs: number;
}

export type MemberEvent =
  | { readonly type: 'tick' }
  /** The heartbeat of a new life was written in time. */
  | { readonly type: 'lived'; readonly id: string }
  /** The heartbeat was not renewed in time. */
  | { readonly type: 'died' }
  /** The watch, or the answer to `depose`: the emptied heartbeat, or the present state, which excluded the write. */
  | { readonly type: 'saw-heartbeat'; readonly id: string; readonly stored: StoredRecord | undefined }
  | { readonly type: 'saw-lease'; readonly partition: number; readonly stored: StoredRecord | undefined }
  /** The answer to a claim: the Lease, which another member may have written before. */
  | {
      readonly type: 'claimed';
      readonly partition: number;
      readonly stored: StoredRecord;
      readonly id: string;
    }
  /** Undefined: the Lease is deleted. */
  | { readonly type: 'released'; readonly partition: number; readonly stored: StoredRecord | undefined }
  /** A claim or a release failed, or may have failed. `isMissing`: the Lease does not exist on the server. */
  | { readonly type: 'refused'; readonly partition: number; readonly isMissing: boolean }
  | { readonly type: 'synced'; readonly partition: number }
  | { readonly type: 'worked'; readonly partition: number; readonly failure: Failure | undefined }
  | { readonly type: 'leave' };

export type MemberEffect =
  | {
      readonly type: 'claim' | 'restore';
      readonly partition: number;
      readonly id: string;
      readonly stored: StoredRecord | undefined;
      readonly epoch: number;
    }
  | { readonly type: 'release'; readonly partition: number; readonly stored: StoredRecord }
  /** Empties a heartbeat in the version that did not change for a whole lease duration. */
  | { readonly type: 'depose'; readonly id: string; readonly heartbeat: Heartbeat }
  /** The present life is over before the deadline: another life owns a partition that this life held. */
  | { readonly type: 'end-life' }
  | { readonly type: 'start-work'; readonly partition: number; readonly epoch: number }
  /** Ends the work. `drain`: the work should end; `overdue`, `lost`: it must. */
  | { readonly type: 'end-work'; readonly partition: number; readonly why: 'drain' | 'overdue' | 'lost' }
  /** Another member may own the partition from now on, although the work of this member continues. */
  | { readonly type: 'still-running'; readonly partition: number }
  /** `pauseMs`: the shortest time to the next attempt; undefined if the partition was on its way to another member. */
  | {
      readonly type: 'failed';
      readonly partition: number;
      readonly failure: Failure;
      readonly pauseMs: number | undefined;
    }
  /** The work can never begin: the member leaves, and its run ends with the failure. */
  | { readonly type: 'give-up'; readonly failure: Failure }
  /** The content of the heartbeat changed, and other members wait for it. */
  | { readonly type: 'renew' }
  /** Deletes the heartbeat of a life that is long gone, in this version. */
  | { readonly type: 'forget'; readonly id: string; readonly version: string }
  /** Another process that runs has the identity of this member. */
  | { readonly type: 'twin'; readonly id: string }
  /** An older member, still running, divides keys differently. */
  | { readonly type: 'refuse'; readonly id: string; readonly division: string }
  /** All partitions are handed over. */
  | { readonly type: 'end' };

export interface MemberStep {
  readonly state: MemberState;
  readonly effects: readonly MemberEffect[];
}

export interface MemberMoment {
  readonly nowMs: number;
  /** End of the life, by the last renewal. */
  readonly untilMs: number;
  /** Wall time, for the heartbeat. */
  readonly wallTime: string;
}

export function newMember({ partitionCount }: MemberRules, nowMs: number): MemberState {
  const partition: Partition = {
    lease: undefined,
    phase: { kind: 'other', notBeforeMs: nowMs },
    failures: 0,
    cannotTake: undefined,
    giveUpMs: undefined,
    unservedSinceMs: nowMs,
  };
  return {
    life: { kind: 'none' },
    isLeaving: false,
    process: '',
    youngUntilMs: undefined,
    peers: new Map(),
    partitions: Array.from({ length: partitionCount }, () => partition),
    owners: undefined,
    decidedMs: nowMs,
  };
}

/** Returns the epoch of a partition that the member holds. */
export function epochOf(phase: Phase): number | undefined {
  return phase.kind === 'syncing' || phase.kind === 'active' || phase.kind === 'draining'
    ? phase.epoch
    : undefined;
}

/** Returns whether work runs that was not aborted because of a loss. */
export function isWorking(phase: Phase): boolean {
  if (phase.kind === 'releasing') return phase.isWorking;
  return (phase.kind === 'syncing' || phase.kind === 'active' || phase.kind === 'draining') && phase.hasWork;
}

/** Returns whether the work on the partition may run, as long as the life is not over. */
export function isHeld({ phase }: Partition): boolean {
  return epochOf(phase) !== undefined;
}
