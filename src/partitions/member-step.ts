/**
 * The rules of a member: a pure function from a state and an event to the next state and the effects. The heartbeat
 * follows the rules of an election (`../controller/leader-election`) for a Lease that only this member claims: a life
 * is over `renewDeadlineMs` after the last successful renewal was sent. The rules here keep two members from one
 * partition:
 *
 * - a member owns only the partitions that the present life claimed in time; partitions of earlier lives are lost,
 *   whatever the server says later;
 * - another life is gone when the heartbeat's version did not change for a whole lease duration, on the member's own
 *   clock, and the server, asked after that, returns the same version. Any renewal of that life that arrives later
 *   comes after the life's deadline;
 * - a claim replaces the Lease only in the version that the member read, with a greater epoch;
 * - a deleted Lease belongs to the last owner, who creates it again.
 */
import { KubeloomError } from '../base/errors.ts';
import { isOlderResourceVersion } from '../kube/resource-version.ts';
import { decide, durationOf } from './decide.ts';
import { heartbeatOf, versionOf } from './heartbeat.ts';
import type { Heartbeat } from './heartbeat.ts';
import { epochOf, isHeld } from './member-state.ts';
import type { MemberEvent, MemberMoment, MemberRules, MemberState, MemberStep } from './member-state.ts';
import { Turn } from './member-turn.ts';

/** Members that start together see each other's heartbeats within this time, and claim only their own share. */
export const SETTLE_MS = 250;

export function memberStep(
  state: MemberState,
  event: MemberEvent,
  moment: MemberMoment,
  rules: MemberRules,
): MemberStep {
  const turn = new Turn(state, moment, rules);
  if (apply(turn, event)) decide(turn);
  return turn.step;
}

/** Returns whether the event may have consequences. Most heartbeats have no consequences. */
function apply(turn: Turn, event: MemberEvent): boolean {
  switch (event.type) {
    case 'tick':
      return true;
    case 'lived':
      return lived(turn, event.id);
    case 'died':
      return died(turn);
    case 'leave':
      turn.leave();
      return true;
    case 'saw-heartbeat':
      return sawHeartbeat(turn, event.id, heartbeatOf(event.stored));
    case 'confirmed':
    case 'not-confirmed':
      return answered(turn, event);
    default:
      return ofPartition(turn, event);
  }
}

/** The watch may deliver the heartbeat before the first write is answered. */
function lived(turn: Turn, id: string): boolean {
  const { heartbeat } = turn.peers.get(id) ?? {};
  turn.setPeer(id, undefined);
  const isGroupNew =
    turn.partitions.every(({ lease }) => !lease?.owner) &&
    [...turn.peers.values()].every(({ heartbeat: { note } }) => Object.keys(note.holds).length === 0);
  const missingFreeMs = turn.nowMs + (isGroupNew ? 0 : turn.rules.leaseDurationMs);
  turn.life = { kind: 'alive', id, seen: undefined, missingFreeMs };
  if (heartbeat) sawOwn(turn, heartbeat);
  return true;
}

/** All partitions of the life are lost. */
function died(turn: Turn): boolean {
  const { life, nowMs } = turn;
  if (life.kind !== 'alive') return false;
  const heartbeat = { ...heartbeatOf(undefined), version: life.seen?.version };
  turn.setPeer(life.id, { kind: 'gone', heartbeat, atMs: nowMs, renewal: 'seen' });
  for (const [index, { phase }] of turn.partitions.entries())
    if (phase.kind !== 'other' && phase.kind !== 'aborted') turn.lose(index);
  turn.life = { kind: 'none' };
  return true;
}

function sawHeartbeat(turn: Turn, id: string, heartbeat: Heartbeat): boolean {
  const { life, nowMs, rules } = turn;
  if (life.kind === 'alive' && life.id === id) return sawOwn(turn, heartbeat);
  const peer = turn.peers.get(id);
  const isThere = heartbeat.version !== undefined;
  if (peer?.kind === 'gone') {
    if (isThere) turn.renewPeer(id, { ...peer, heartbeat });
    else if (turn.partitions.some(({ lease }) => lease?.owner === id))
      turn.renewPeer(id, { ...peer, heartbeat: { ...peer.heartbeat, version: undefined } });
    else turn.renewPeer(id, undefined);
    return false;
  }
  if (peer?.heartbeat.version === heartbeat.version) return false;
  const common = { atMs: nowMs, renewal: peer ? 'seen' : 'awaited' } as const;
  if (!isThere) {
    // A missing heartbeat is not a release: the owner creates it again.
    if (peer)
      turn.renewPeer(id, {
        ...peer,
        ...common,
        kind: 'seen',
        heartbeat: { ...peer.heartbeat, version: undefined },
      });
    return false;
  }
  if (heartbeat.holder === '') {
    turn.setPeer(id, { ...common, kind: 'gone', heartbeat });
    return true;
  }
  const seen = { ...common, kind: 'seen', heartbeat } as const;
  // A peer whose heartbeat was missing, or whose first renewal was overdue, becomes a preferred owner again.
  const isCounted = peer?.heartbeat.version !== undefined && peer.renewal !== 'overdue';
  if (isCounted && isSameNote(peer.heartbeat, heartbeat)) {
    turn.renewPeer(id, seen);
    return peer.renewal === 'awaited';
  }
  turn.setPeer(id, seen);
  if (!peer && life.kind === 'alive' && life.seen && nowMs < life.seen.settledMs) {
    const settledMs = Math.min(nowMs + SETTLE_MS, life.seen.atMs + rules.retryPeriodMs);
    turn.life = { ...life, seen: { ...life.seen, settledMs } };
  }
  return true;
}

function isSameNote(one: Heartbeat, other: Heartbeat): boolean {
  return JSON.stringify(one.note) === JSON.stringify(other.note);
}

function sawOwn(turn: Turn, { version, createdAt }: Heartbeat): boolean {
  const { life, nowMs } = turn;
  if (life.kind !== 'alive' || version === undefined) return false;
  const isFirst = !life.seen;
  turn.life = {
    ...life,
    seen: { createdAt, atMs: nowMs, settledMs: nowMs + SETTLE_MS, ...life.seen, version },
  };
  if (!isFirst) return false;
  turn.owners = undefined;
  return true;
}

/** Decides about a life whose heartbeat did not change for a whole lease duration. */
function answered(
  turn: Turn,
  event: Extract<MemberEvent, { readonly type: 'confirmed' | 'not-confirmed' }>,
): boolean {
  const { nowMs, rules } = turn;
  const peer = turn.peers.get(event.id);
  // An earlier question does not cover the time since `atMs`.
  if (peer?.kind !== 'asked' || peer.atMs !== event.sinceMs) return false;
  if (event.type === 'not-confirmed') {
    const atMs = nowMs + rules.retryPeriodMs - durationOf(peer.heartbeat, rules);
    turn.renewPeer(event.id, { ...peer, kind: 'seen', atMs });
    return true;
  }
  const heartbeat = heartbeatOf(event.stored);
  if (heartbeat.version === peer.heartbeat.version) {
    turn.setPeer(event.id, { ...peer, kind: 'gone', atMs: nowMs });
    return true;
  }
  turn.setPeer(event.id, { ...peer, kind: 'seen' });
  return sawHeartbeat(turn, event.id, heartbeat) || true;
}

type OfPartition = Extract<MemberEvent, { readonly partition: number }>;

function ofPartition(turn: Turn, event: OfPartition): boolean {
  const { partition: index } = event;
  const { phase } = turn.partition(index);
  switch (event.type) {
    case 'saw-lease':
      return sawLease(turn, index, event.stored);
    case 'claimed':
      return claimed(turn, event);
    case 'released':
      if (event.stored) know(turn, index, event.stored);
      else forgetLease(turn, index);
      if (phase.kind === 'releasing') turn.released(index, phase.isWorking);
      return true;
    case 'refused': {
      const laterMs = turn.nowMs + turn.rules.retryPeriodMs;
      // The answer to an earlier write may arrive after the watch delivered the deletion.
      if (event.isMissing) forgetLease(turn, index);
      if (phase.kind === 'claiming') turn.setPhase(index, { kind: 'other', notBeforeMs: laterMs });
      if (phase.kind === 'releasing') turn.setPhase(index, { ...phase, retryMs: laterMs });
      return true;
    }
    case 'synced':
      return turn.activate(index);
    default:
      return worked(turn, event);
  }
}

function claimed(turn: Turn, event: Extract<OfPartition, { readonly type: 'claimed' }>): boolean {
  const { partition: index, stored, id } = event;
  know(turn, index, stored);
  if (turn.partition(index).phase.kind !== 'claiming') return true;
  const epoch = stored.record.leaseTransitions;
  // A claim that is late, of a past life, or no longer wanted does not start work: the partition is released.
  const isWanted = turn.owners?.[index] === id && turn.partition(index).lease?.owner === id;
  if (turn.id !== id || turn.isLeaving || !isWanted) {
    turn.setPhase(index, { kind: 'other', notBeforeMs: turn.nowMs });
    return true;
  }
  turn.setPhase(index, { kind: 'syncing', epoch, hasWork: true });
  turn.effects.push({ type: 'start-work', partition: index, epoch });
  return true;
}

function worked(turn: Turn, event: Extract<OfPartition, { readonly type: 'worked' }>): boolean {
  const { partition: index, failure } = event;
  const { phase } = turn.partition(index);
  if (phase.kind === 'aborted') {
    turn.setPhase(index, { kind: 'other', notBeforeMs: turn.nowMs });
    turn.canTake(index);
    return true;
  }
  const isNew = phase.kind === 'syncing' || phase.kind === 'active';
  if (failure && !isNew && isHeld(turn.partition(index)))
    turn.effects.push({ type: 'failed', partition: index, failure, pauseMs: undefined });
  if (phase.kind === 'releasing') {
    if (phase.isWorking) turn.canTake(index);
    turn.setPhase(index, { ...phase, isWorking: false });
  }
  if (phase.kind === 'draining') {
    if (phase.isAborted) turn.canTake(index);
    turn.release(index, false);
  } else if (isNew && !failure) turn.setPhase(index, { ...phase, hasWork: false });
  else if (isNew && failure) {
    const pauseMs = turn.fail(index);
    if (phase.kind === 'syncing' && isMistake(failure.error)) {
      turn.effects.push({ type: 'give-up', failure });
      turn.leave();
    } else turn.effects.push({ type: 'failed', partition: index, failure, pauseMs });
  }
  return true;
}

/** Codes of declarations that another attempt would refuse again, in every member with the same program. */
const MISTAKES: ReadonlySet<unknown> = new Set(['ERR_KUBELOOM_OPTION', 'ERR_KUBELOOM_PARTITION']);

function isMistake(error: unknown): boolean {
  return error instanceof KubeloomError && MISTAKES.has(error.code);
}

type Stored = Extract<MemberEvent, { readonly type: 'claimed' }>['stored'];

function sawLease(turn: Turn, index: number, stored: Stored | undefined): boolean {
  return stored ? know(turn, index, stored) : forgetLease(turn, index);
}

/** Stores the server's state of a Lease, unless a newer state is known. */
function know(turn: Turn, index: number, stored: Stored): boolean {
  const version = versionOf(stored);
  const { lease } = turn.partition(index);
  const isSame = lease?.version === version;
  if (lease && !(isSame ? !lease.stored : isOlderResourceVersion(lease.version, version))) return false;
  const { holderIdentity: owner, leaseTransitions: epoch } = stored.record;
  turn.set(index, { lease: { stored, version, owner, epoch, atMs: turn.nowMs } });
  return true;
}

/** The Lease was deleted: keeps the owner. */
function forgetLease(turn: Turn, index: number): boolean {
  const { lease } = turn.partition(index);
  if (!lease?.stored) return false;
  turn.set(index, { lease: { ...lease, stored: undefined, atMs: turn.nowMs } });
  const { id } = turn;
  const epoch = epochOf(turn.partition(index).phase);
  if (id !== undefined && epoch !== undefined)
    turn.effects.push({ type: 'restore', partition: index, id, stored: undefined, epoch });
  return true;
}
