/**
 * The rules of a member: a pure function from a state and an event to the next state and the effects. The heartbeat
 * follows the rules of an election (`../controller/leader-election`) for a Lease that only this member claims: a life
 * is over `renewDeadlineMs` after the last successful renewal was sent. The rules here keep two members from one
 * partition:
 *
 * - a member owns only the partitions that the present life claimed in time; partitions of earlier lives are lost,
 *   whatever the server says later;
 * - another life is gone when the heartbeat on the server says so: the life itself wrote that after it had handed over
 *   everything, or another member deposed it. A member deposes a life whose heartbeat had one version for a whole lease
 *   duration, on the member's own clock: it empties the heartbeat in that version. So the server lets a renewal or the
 *   deposition succeed, whatever the clocks did, and every member sees the result;
 * - a life whose heartbeat was emptied, or one of whose partitions another life has taken, is over;
 * - a claim replaces the Lease only in the version that the member read, with a greater epoch;
 * - a deleted Lease belongs to the last owner, who creates it again.
 */
import { KubeloomError } from '../base/errors.ts';
import { isOlderResourceVersion } from '../kube/resource-version.ts';
import { FORGET_AFTER_LEASES, decide } from './decide.ts';
import { heartbeatOf, versionOf } from './heartbeat.ts';
import type { Heartbeat } from './heartbeat.ts';
import { epochOf, isHeld } from './member-state.ts';
import type { MemberEvent, MemberMoment, MemberRules, MemberState, MemberStep } from './member-state.ts';
import { Turn } from './member-turn.ts';
import { identityOf, processOf } from './ownership.ts';

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
      turn.endLife();
      return true;
    case 'leave':
      turn.leave();
      return true;
    case 'saw-heartbeat':
      return sawHeartbeat(turn, event.id, heartbeatOf(event.stored));
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
  if (turn.process === '') turn.youngUntilMs = youngUntilMs(turn, id);
  turn.process = processOf(id);
  turn.life = { kind: 'alive', id, seen: undefined, missingFreeMs };
  if (heartbeat) sawOwn(turn, heartbeat);
  return true;
}

/**
 * Returns the end of the youth of a process: a lease if any member ended without a release, and twice as long for each
 * such end of this identity. The heartbeats are the memory, which a process that fails again and again cannot lose.
 */
function youngUntilMs({ peers, nowMs, rules }: Turn, id: string): number | undefined {
  const ends = [...peers].filter(([, { heartbeat }]) => !heartbeat.note.isLeaving);
  const own = ends.filter(
    ([peer]) => identityOf(peer) === identityOf(id) && processOf(peer) !== processOf(id),
  );
  const isUnsafe = own.length > 0 || ends.some(([, { kind }]) => kind === 'gone');
  const leases = Math.min(2 ** Math.max(own.length - 1, 0), FORGET_AFTER_LEASES);
  return isUnsafe ? nowMs + leases * rules.leaseDurationMs : undefined;
}

function sawHeartbeat(turn: Turn, id: string, given: Heartbeat): boolean {
  const { life, nowMs, rules } = turn;
  if (life.kind === 'alive' && life.id === id) return sawOwn(turn, given);
  const peer = turn.peers.get(id);
  if (peer?.heartbeat.version === given.version) return false;
  // The watch may lag behind the answer that the heartbeat is over.
  if (peer?.kind === 'gone' && isOlderResourceVersion(given.version ?? '', peer.heartbeat.version ?? ''))
    return false;
  // A duration that another program wrote makes the time neither shorter than a lease nor longer than before, nor endless.
  const durationMs = Math.min(given.durationMs, peer?.heartbeat.durationMs ?? Infinity);
  const { leaseDurationMs } = rules;
  const dueMs =
    nowMs + Math.min(Math.max(durationMs, leaseDurationMs), FORGET_AFTER_LEASES * leaseDurationMs);
  const heartbeat = { ...given, durationMs };
  if (heartbeat.version === undefined) {
    if (peer?.kind === 'gone') turn.renewPeer(id, undefined);
    // A missing heartbeat is not a release: the owner creates it again.
    else if (peer) {
      const { note } = peer.heartbeat;
      turn.renewPeer(id, { ...peer, dueMs, heartbeat: { ...heartbeat, note } });
    }
    return false;
  }
  // Another program may have written a division: only a second version is the word of the life.
  const renewal = peer?.heartbeat.note.division === heartbeat.note.division ? 'seen' : 'awaited';
  const seen = { kind: 'seen', heartbeat, dueMs, renewal } as const;
  // A heartbeat that another program emptied is not over: its life may not have noticed.
  if (heartbeat.holder === '' && heartbeat.note.isOver) {
    const forgetMs = nowMs + FORGET_AFTER_LEASES * leaseDurationMs;
    turn.setPeer(id, { ...seen, kind: 'gone', dueMs: forgetMs });
    return true;
  }
  if (renewal === 'seen' && peer?.renewal !== renewal && isTwin(turn, id, heartbeat))
    turn.effects.push({ type: 'twin', id });
  // A peer whose heartbeat was missing becomes a preferred owner again.
  const isCounted = peer?.kind === 'seen' && peer.heartbeat.version !== undefined;
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

/** Returns whether another process with the identity of this member renews its heartbeat. */
function isTwin({ life, process }: Turn, id: string, { holder, note }: Heartbeat): boolean {
  const isOfName = life.kind === 'alive' && identityOf(id) === identityOf(life.id);
  return isOfName && processOf(id) !== process && holder === id && !note.isLeaving;
}

function isSameNote(one: Heartbeat, other: Heartbeat): boolean {
  return one.holder === other.holder && JSON.stringify(one.note) === JSON.stringify(other.note);
}

function sawOwn(turn: Turn, heartbeat: Heartbeat): boolean {
  const { life, nowMs } = turn;
  if (life.kind !== 'alive' || heartbeat.version === undefined) return false;
  const isFirst = !life.seen;
  turn.life = {
    ...life,
    seen: { atMs: nowMs, settledMs: nowMs + SETTLE_MS, ...life.seen, heartbeat },
  };
  if (!isFirst) return false;
  turn.owners = undefined;
  return true;
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
