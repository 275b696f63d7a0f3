/**
 * Decides the effects of a state at a time: lives to depose, partitions to claim or hand over. A part of
 * `member-step.ts`.
 */
import { NO_HEARTBEAT } from './heartbeat.ts';
import { epochOf } from './member-state.ts';
import type { MemberRules, MemberState, Partition, Peer } from './member-state.ts';
import type { Turn } from './member-turn.ts';
import { REST_LEASES, noteOf } from './member-turn.ts';
import { identityOf, ownersUntilFilled, preferredOwners, processOf } from './ownership.ts';

/** Lease durations after which the heartbeat of a gone life is deleted. */
export const FORGET_AFTER_LEASES = 20;

/** The form of the name of a life. Another program that owns the Lease of a partition has no heartbeat: it renews that Lease. */
const LIFE = /^[a-z\d-]+\.[a-z\d]+\.\d+$/;

/** @internal */
export function decide(turn: Turn): void {
  turn.decidedMs = turn.nowMs;
  if (turn.life.kind === 'ended') return;
  if (turn.youngUntilMs !== undefined && turn.nowMs >= turn.youngUntilMs) {
    turn.youngUntilMs = undefined;
    turn.owners = undefined;
    turn.effects.push({ type: 'renew' });
  }
  if (turn.partitions.some((partition) => isTaken(turn, partition))) {
    turn.effects.push({ type: 'end-life' });
    turn.endLife();
  }
  for (const [id, peer] of turn.peers) ofPeer(turn, id, peer);
  for (const [index, { phase, cannotTake }] of turn.partitions.entries())
    if (cannotTake && turn.nowMs >= cannotTake.untilMs && phase.kind === 'other') turn.canTake(index);
  const owners = (turn.owners ??= ownersOf(turn));
  const { id } = turn;
  const isClaiming = id !== undefined && mayClaim(turn);
  let isMoving = turn.partitions.some(({ phase }) => isOnTheMove(phase));
  for (const index of turn.partitions.keys()) {
    const isPreferred = owners[index] !== undefined && owners[index] === id;
    ofHeld(turn, index);
    const { phase, lease } = turn.partition(index);
    if (phase.kind === 'other') {
      const isWanted = isClaiming && isPreferred && turn.nowMs >= phase.notBeforeMs;
      const isTakeable = isWanted && isFree(turn, index);
      awaitOwner(turn, index, isWanted && !isTakeable);
      if (isTakeable) claim(turn, index, id);
      else if (lease?.stored && lease.owner === id && !isPreferred) turn.release(index, false);
    } else if (id !== undefined && (phase.kind === 'syncing' || phase.kind === 'active')) {
      if (!turn.isLeaving && (isMoving || isPreferred || owners[index] === undefined)) continue;
      isMoving = true;
      drain(turn, index);
    }
  }
  // An answer to a claim needs them: a partition that drains may have changed them.
  turn.owners ??= ownersOf(turn);
  for (const index of turn.partitions.keys()) notice(turn, index);
  const isOver = turn.partitions.every(({ phase: { kind } }) => kind === 'other' || kind === 'aborted');
  if (!turn.isLeaving || !isOver) return;
  turn.life = { kind: 'ended' };
  turn.effects.push({ type: 'end' });
}

/**
 * Returns the time of the next tick, which has passed if an event without a decision came before a late timer; undefined
 * if no tick is needed.
 */
export function dueMs(
  { life, youngUntilMs = Infinity, peers, partitions, owners, decidedMs }: MemberState,
  rules: MemberRules,
): number | undefined {
  const times = [youngUntilMs];
  if (life.kind === 'alive' && life.seen) times.push(life.seen.settledMs);
  const id = life.kind === 'alive' ? life.id : undefined;
  for (const peer of peers.values()) times.push(peer.dueMs);
  for (const [index, { phase, lease, cannotTake, giveUpMs }] of partitions.entries()) {
    if (cannotTake) times.push(cannotTake.untilMs);
    if (phase.kind === 'other' && owners?.[index] === id) {
      times.push(phase.notBeforeMs, giveUpMs ?? Infinity);
      if (!lease && life.kind === 'alive') times.push(life.missingFreeMs);
      if (lease) times.push(lease.atMs + rules.leaseDurationMs);
    }
    if (phase.kind === 'draining') times.push(phase.dueMs);
    if (phase.kind === 'releasing' && phase.retryMs !== undefined) times.push(phase.retryMs);
    if (epochOf(phase) !== undefined && lease && !lease.stored) times.push(lease.atMs + rules.retryPeriodMs);
  }
  const next = Math.min(...times.filter((timeMs) => timeMs > decidedMs));
  return next < Infinity ? next : undefined;
}

function ofPeer(turn: Turn, id: string, peer: Peer): void {
  const { nowMs, rules, life } = turn;
  const { version, note, createdAt } = peer.heartbeat;
  // An attempt that fails, or whose answer is lost, is made again.
  if (nowMs >= peer.dueMs) {
    if (peer.kind === 'gone' && version !== undefined) {
      turn.renewPeer(id, { ...peer, dueMs: nowMs + FORGET_AFTER_LEASES * rules.leaseDurationMs });
      turn.effects.push({ type: 'forget', id, version });
    } else {
      turn.renewPeer(id, { ...peer, dueMs: nowMs + rules.renewDeadlineMs / 2 });
      turn.effects.push({ type: 'depose', id, heartbeat: peer.heartbeat });
    }
  }
  if (!isForeign(turn, id, peer) || peer.renewal !== 'seen' || life.kind !== 'alive' || !life.seen) return;
  const isYounger = `${life.seen.heartbeat.createdAt} ${life.id}` > `${createdAt} ${id}`;
  if (isYounger) turn.effects.push({ type: 'refuse', id, division: note.division });
}

/** Returns whether a life of another process may own partitions. */
function mayOwn({ process }: Turn, id: string, { kind }: Peer): boolean {
  return kind === 'seen' && processOf(id) !== process;
}

/** Returns whether a member that may be alive divides keys in another way. */
function isForeign(turn: Turn, id: string, peer: Peer): boolean {
  const { note, version } = peer.heartbeat;
  const isDifferent = note.division !== '' && note.division !== turn.rules.division;
  return isDifferent && version !== undefined && mayOwn(turn, id, peer);
}

function mayClaim(turn: Turn): boolean {
  const { life, isLeaving, nowMs } = turn;
  if (isLeaving || life.kind !== 'alive' || !life.seen || nowMs < life.seen.settledMs) return false;
  return ![...turn.peers].some(([id, peer]) => isForeign(turn, id, peer));
}

function ownersOf(turn: Turn): (string | undefined)[] {
  const { life, isLeaving, peers, rules } = turn;
  const own = life.kind === 'alive' && life.seen && !isLeaving ? life.id : undefined;
  // A member may have started several times: only the newest start counts.
  const newest = new Map<string, { readonly id: string; readonly createdAt: string }>();
  const add = (id: string, createdAt: string): void => {
    const other = newest.get(identityOf(id));
    if (!other || `${other.createdAt} ${other.id}` < `${createdAt} ${id}`)
      newest.set(identityOf(id), { id, createdAt });
  };
  if (own !== undefined && life.kind === 'alive') add(own, life.seen?.heartbeat.createdAt ?? '');
  for (const [id, peer] of peers) {
    const { note, holder, createdAt } = peer.heartbeat;
    const isMember = holder === id && mayOwn(turn, id, peer) && !isForeign(turn, id, peer);
    if (isMember && !note.isLeaving) add(id, createdAt);
  }
  const members = Array.from(newest.values(), ({ id }) => id);
  const notes = new Map(
    members.map((id) => [
      id,
      id === own ? noteOf(turn, rules) : (peers.get(id)?.heartbeat.note ?? NO_HEARTBEAT.note),
    ]),
  );
  const preferred = preferredOwners(
    rules.partitionCount,
    members,
    (member, index) => notes.get(member)?.cannotTake[index],
  );
  return ownersUntilFilled(preferred, new Map(Array.from(notes, ([id, { holds }]) => [id, holds])));
}

function isOnTheMove(phase: Partition['phase']): boolean {
  return (phase.kind === 'draining' && !phase.isAborted) || (phase.kind === 'releasing' && !phase.isWorking);
}

/** Returns whether another life owns a partition that the present life holds: only a judge of this life can take it. */
function isTaken({ life }: Turn, { phase, lease }: Partition): boolean {
  const epoch = epochOf(phase);
  if (epoch === undefined || !lease?.stored || life.kind !== 'alive') return false;
  return lease.owner !== life.id || lease.epoch !== epoch;
}

/** Advances a partition that this member holds or gives back. */
function ofHeld(turn: Turn, index: number): void {
  const { nowMs, rules, id } = turn;
  const { phase, lease } = turn.partition(index);
  const epoch = epochOf(phase);
  const isMissing = epoch !== undefined && lease && !lease.stored;
  if (isMissing && id !== undefined && nowMs >= lease.atMs + rules.retryPeriodMs) {
    turn.set(index, { lease: { ...lease, atMs: nowMs } });
    turn.effects.push({ type: 'restore', partition: index, id, stored: undefined, epoch });
  }
  if (phase.kind === 'draining' && nowMs >= phase.dueMs) return overdue(turn, index);
  if (phase.kind === 'releasing' && phase.retryMs !== undefined && nowMs >= phase.retryMs)
    return turn.release(index, phase.isWorking);
  return undefined;
}

/** Aborts work that drains for too long; if the work continues after that, releases the partition. */
function overdue(turn: Turn, index: number): void {
  const { phase } = turn.partition(index);
  if (phase.kind !== 'draining') return;
  if (!phase.isAborted) {
    const { leaseDurationMs, renewDeadlineMs } = turn.rules;
    turn.effects.push({ type: 'end-work', partition: index, why: 'overdue' });
    turn.setPhase(index, {
      ...phase,
      isAborted: true,
      dueMs: turn.nowMs + leaseDurationMs - renewDeadlineMs,
    });
    return turn.cannotTake(index, Infinity);
  }
  turn.effects.push({ type: 'still-running', partition: index });
  return turn.release(index, true);
}

function drain(turn: Turn, index: number): void {
  const { phase } = turn.partition(index);
  if (phase.kind !== 'syncing' && phase.kind !== 'active') return;
  if (!phase.hasWork) return turn.release(index, false);
  const { epoch } = phase;
  const dueMs = turn.nowMs + turn.rules.drainTimeoutMs;
  turn.effects.push({ type: 'end-work', partition: index, why: 'drain' });
  return turn.setPhase(index, { kind: 'draining', epoch, hasWork: true, dueMs, isAborted: false });
}

function claim(turn: Turn, index: number, id: string): void {
  const { lease } = turn.partition(index);
  const epochs = [lease?.epoch ?? -1];
  for (const { heartbeat } of turn.peers.values()) epochs.push(heartbeat.note.holds[index]?.[0] ?? -1);
  const epoch = Math.max(...epochs) + 1;
  turn.effects.push({ type: 'claim', partition: index, id, stored: lease?.stored, epoch });
  turn.setPhase(index, { kind: 'claiming' });
}

/**
 * Gives up the first partition of a member that holds none, when the owner does not hand it over: an owner without a
 * watch does not see this member. Another partition comes first.
 */
function awaitOwner(turn: Turn, index: number, isAwaited: boolean): void {
  const { drainTimeoutMs, leaseDurationMs } = turn.rules;
  const isFirst = isAwaited && turn.partitions.every(({ phase }) => phase.kind === 'other');
  const { giveUpMs: before } = turn.partition(index);
  const giveUpMs = before ?? turn.nowMs + drainTimeoutMs + 2 * leaseDurationMs;
  const isGivenUp = isFirst && turn.nowMs >= giveUpMs;
  if (isFirst !== (before !== undefined) || isGivenUp)
    turn.set(index, { giveUpMs: isFirst && !isGivenUp ? giveUpMs : undefined });
  if (isGivenUp) turn.cannotTake(index, turn.nowMs + REST_LEASES * leaseDurationMs);
}

/** Returns whether no life can own the partition. */
function isFree(turn: Turn, index: number): boolean {
  const { nowMs, rules, id } = turn;
  const { lease } = turn.partition(index);
  if (!lease?.stored) {
    for (const [life, peer] of turn.peers)
      if (mayOwn(turn, life, peer) && peer.heartbeat.note.holds[index]) return false;
    if (!lease) return turn.life.kind === 'alive' && nowMs >= turn.life.missingFreeMs;
  }
  const { owner } = lease;
  const isUnchanged = nowMs >= lease.atMs + rules.leaseDurationMs;
  if (owner !== '' && !LIFE.test(owner)) return isUnchanged;
  const peer = turn.peers.get(owner);
  if (owner === '' || owner === id || peer?.kind === 'gone' || processOf(owner) === turn.process) return true;
  // The heartbeat that the Lease names is deleted or unknown: wait a lease duration for it to appear.
  const dueMs = nowMs + rules.leaseDurationMs;
  if (!peer) turn.renewPeer(owner, { kind: 'seen', heartbeat: NO_HEARTBEAT, dueMs, renewal: 'awaited' });
  return !lease.stored && isUnchanged;
}

/** Records since when no member works on the partition. */
function notice(turn: Turn, index: number): void {
  const { phase, lease, unservedSinceMs } = turn.partition(index);
  const peer = lease?.stored && turn.peers.get(lease.owner);
  const isServed =
    phase.kind === 'active' ||
    (peer && mayOwn(turn, lease.owner, peer) && peer.heartbeat.note.holds[index]?.[1] === true);
  const since = isServed ? undefined : (unservedSinceMs ?? turn.nowMs);
  if (since !== unservedSinceMs) turn.set(index, { unservedSinceMs: since });
}
