/**
 * The knowledge of one member about its group, the events and the effects: data only. `member-step.ts` has the rules.
 *
 * ```
 *           wanted, and free                              caches filled
 *  other ───────────────────► claiming ──────► syncing ──────────────────► active
 *   ▲ ▲                          │                │   another is preferred, or stop │
 *   │ └──── failed, conflict ────┘                └───────────► draining ◄──────────┘
 *   │                                                             │ the work has ended, or is overdue
 *   ├────────────────── released, its work has ended ────────── releasing
 *   │                                                             │ released, its work has not ended
 *   └── the work has ended ── aborted ◄───── the member's life is over, or another owner was seen
 * ```
 *
 * A partition's Lease names the *life* of its owner, and is valid as long as the heartbeat of that life is. A life that missed
 * its deadline is over for ever: the member goes on as another one, `IDENTITY.INCARNATION.2`, and claims anew. All times are those
 * of the member's own monotonic clock.
 */
import type { Failure } from '../controller/leader-election/election-state.ts';
import type { StoredRecord } from '../controller/leader-election/resource-lock.ts';
import type { Heartbeat } from './heartbeat.ts';

export interface MemberRules {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** Time for which a work may drain before it is aborted. */
  readonly drainTimeoutMs: number;
  readonly partitionCount: number;
  readonly division: string;
}

/**
 * A life of another member, or a former one of this member. `seen`: the heartbeat has had one version since `atMs`. `asked`: for a
 * whole lease, and the server is asked whether it still has. `gone`: it holds nothing, and never will again.
 */
export interface Peer {
  readonly kind: 'seen' | 'asked' | 'gone';
  readonly heartbeat: Heartbeat;
  readonly atMs: number;
  /** Whether another version was seen before: the life is not a remainder. */
  readonly hasRenewed: boolean;
}

/** The newest state of a partition's Lease that this member has seen. */
export interface KnownLease {
  /** Undefined when the Lease was deleted; the rest is what it had then. */
  readonly stored: StoredRecord | undefined;
  readonly version: string;
  /** Empty when the last owner has released it. */
  readonly owner: string;
  readonly epoch: number;
  /** Time at which it was seen, or at which it was made again last. */
  readonly atMs: number;
}

export type Phase =
  | { readonly kind: 'other'; readonly notBeforeMs: number }
  | { readonly kind: 'claiming' }
  /** `hasWork`: false when the work has ended although the partition stays. */
  | { readonly kind: 'syncing' | 'active'; readonly epoch: number; readonly hasWork: boolean }
  /** `dueMs`: the time at which the work is aborted, or the partition is released without its end. */
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
  /** Failures of the work since it was active last. */
  readonly failures: number;
  /** The last failure, until the member may be preferred again. */
  readonly cannotTake: { readonly since: string; readonly untilMs: number } | undefined;
  /** Time since which no member works on it, as far as this one sees. */
  readonly unservedSinceMs: number | undefined;
}

export type Life =
  /** No heartbeat was written yet. */
  | { readonly kind: 'none' }
  /**
   * `seen`: its own watch has shown the heartbeat; it claims from `settledMs` on. A partition without a Lease is free from
   * `missingFreeMs` on: in a group that others work in, a missing Lease was deleted, and its owner may not have said yet what it owns.
   */
  | {
      readonly kind: 'alive';
      readonly id: string;
      readonly seen: Seen | undefined;
      readonly missingFreeMs: number;
    }
  /** Everything is handed over. */
  | { readonly kind: 'ended' };

export interface Seen {
  readonly version: string;
  readonly createdAt: string;
  readonly atMs: number;
  readonly settledMs: number;
}

export interface MemberState {
  readonly life: Life;
  readonly isLeaving: boolean;
  readonly peers: ReadonlyMap<string, Peer>;
  readonly partitions: readonly Partition[];
  /** Preferred owners: lives. Undefined until they are needed after a change. */
  readonly owners: readonly (string | undefined)[] | undefined;
}

export type MemberEvent =
  | { readonly type: 'tick' }
  /** The heartbeat of a new life was written in time. */
  | { readonly type: 'lived'; readonly id: string }
  /** The heartbeat was not renewed in time. */
  | { readonly type: 'died' }
  | { readonly type: 'saw-heartbeat'; readonly id: string; readonly stored: StoredRecord | undefined }
  | { readonly type: 'saw-lease'; readonly partition: number; readonly stored: StoredRecord | undefined }
  /** The answer to `confirm`: the server has this now. */
  | {
      readonly type: 'confirmed';
      readonly id: string;
      readonly sinceMs: number;
      readonly stored: StoredRecord | undefined;
    }
  | { readonly type: 'not-confirmed'; readonly id: string; readonly sinceMs: number }
  | {
      readonly type: 'claimed';
      readonly partition: number;
      readonly stored: StoredRecord;
      readonly id: string;
    }
  /** Undefined: there is no Lease. */
  | { readonly type: 'released'; readonly partition: number; readonly stored: StoredRecord | undefined }
  /** A claim or a release has failed, or is not known to have succeeded. `isMissing`: the server has no such Lease. */
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
  /** Reads a heartbeat, past every cache. `sinceMs`: the time since which it has had one version; answers have it again. */
  | { readonly type: 'confirm'; readonly id: string; readonly sinceMs: number }
  | { readonly type: 'start-work'; readonly partition: number; readonly epoch: number }
  /** The work is asked to end: `drain`, or must: the time is over, or the partition is lost. */
  | { readonly type: 'end-work'; readonly partition: number; readonly why: 'drain' | 'overdue' | 'lost' }
  /** Another member may own the partition from now on, and the work of this one has not ended. */
  | { readonly type: 'still-running'; readonly partition: number }
  | { readonly type: 'failed'; readonly partition: number; readonly failure: Failure }
  /** The heartbeat is to say something else, and the others wait for it. */
  | { readonly type: 'renew' }
  /** Deletes the heartbeat of a life that has been gone for long, in this version. */
  | { readonly type: 'forget'; readonly id: string; readonly version: string }
  /** A running member divides keys differently, and is older. */
  | { readonly type: 'refuse'; readonly id: string; readonly division: string }
  /** All is handed over. */
  | { readonly type: 'end' };

export interface MemberStep {
  readonly state: MemberState;
  readonly effects: readonly MemberEffect[];
}

export interface MemberMoment {
  readonly nowMs: number;
  /** End of the life, by its last renewal. */
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
    unservedSinceMs: nowMs,
  };
  return {
    life: { kind: 'none' },
    isLeaving: false,
    peers: new Map(),
    partitions: Array.from({ length: partitionCount }, () => partition),
    owners: undefined,
  };
}

/** Returns the epoch of a partition that the member holds. */
export function epochOf(phase: Phase): number | undefined {
  return phase.kind === 'syncing' || phase.kind === 'active' || phase.kind === 'draining'
    ? phase.epoch
    : undefined;
}

/** Returns whether a work runs that was not aborted because of a loss. */
export function isWorking(phase: Phase): boolean {
  if (phase.kind === 'releasing') return phase.isWorking;
  return (phase.kind === 'syncing' || phase.kind === 'active' || phase.kind === 'draining') && phase.hasWork;
}

/** Returns whether the work on the partition may run, as long as the life is not over. */
export function isHeld({ phase }: Partition): boolean {
  return epochOf(phase) !== undefined;
}
