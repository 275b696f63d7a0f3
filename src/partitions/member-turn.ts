/**
 * A step of a member in progress: the state so far, and the effects. The states before and after the step are values.
 */
import type { Note } from './heartbeat.ts';
import { epochOf, isWorking } from './member-state.ts';
import type {
  Life,
  MemberEffect,
  MemberMoment,
  MemberRules,
  MemberState,
  MemberStep,
  Partition,
  Peer,
  Phase,
} from './member-state.ts';

/**
 * Pauses after repeated failures: before the member may be preferred again (REST), and before the next attempt (RETRY).
 */
export const REST_LEASES = 10;
const REST_MAX_MS = 3_600_000;
const RETRY_MAX_MS = 60_000;

/** @internal */
export class Turn {
  readonly before: MemberState;
  readonly moment: MemberMoment;
  readonly rules: MemberRules;
  readonly effects: MemberEffect[] = [];
  life: Life;
  isLeaving: boolean;
  process: string;
  youngUntilMs: number | undefined;
  owners: readonly (string | undefined)[] | undefined;
  decidedMs: number;
  #peers: Map<string, Peer> | undefined;
  #partitions: Partition[] | undefined;

  constructor(before: MemberState, moment: MemberMoment, rules: MemberRules) {
    this.before = before;
    this.moment = moment;
    this.rules = rules;
    this.life = before.life;
    this.isLeaving = before.isLeaving;
    this.process = before.process;
    this.youngUntilMs = before.youngUntilMs;
    this.owners = before.owners;
    this.decidedMs = before.decidedMs;
  }

  get step(): MemberStep {
    const { life, isLeaving, process, youngUntilMs, owners, decidedMs, peers, partitions, effects } = this;
    const state = { life, isLeaving, process, youngUntilMs, owners, decidedMs, peers, partitions };
    return { state, effects };
  }

  get nowMs(): number {
    return this.moment.nowMs;
  }

  /** The life that may own partitions; undefined if there is no life, or if the life is over. */
  get id(): string | undefined {
    return this.life.kind === 'alive' && this.nowMs < this.moment.untilMs ? this.life.id : undefined;
  }

  get peers(): ReadonlyMap<string, Peer> {
    return this.#peers ?? this.before.peers;
  }

  get partitions(): readonly Partition[] {
    return this.#partitions ?? this.before.partitions;
  }

  setPeer(id: string, peer: Peer | undefined): void {
    this.#peers ??= new Map(this.before.peers);
    if (peer) this.#peers.set(id, peer);
    else this.#peers.delete(id);
    this.owners = undefined;
  }

  /** Stores a heartbeat whose note is unchanged; the preferred owners stay valid. */
  renewPeer(id: string, peer: Peer | undefined): void {
    const { owners } = this;
    this.setPeer(id, peer);
    this.owners = owners;
  }

  partition(index: number): Partition {
    const partition = this.partitions[index];
    if (!partition) throw new RangeError(`there is no partition ${index}`);
    return partition;
  }

  set(index: number, change: Partial<Partition>): void {
    this.#partitions ??= [...this.before.partitions];
    this.#partitions[index] = { ...this.partition(index), ...change };
  }

  setPhase(index: number, phase: Phase): void {
    // A member without an active partition is preferred for a single one.
    if ((this.partition(index).phase.kind === 'active') !== (phase.kind === 'active'))
      this.owners = undefined;
    this.set(index, { phase });
  }

  /** Goes on when the caches of the partition are filled. @returns false if the partition was not waiting for them */
  activate(index: number): boolean {
    const { phase } = this.partition(index);
    if (phase.kind !== 'syncing') return false;
    // The others hand over the rest when the heartbeat says so.
    if (!this.partitions.some(({ phase: { kind } }) => kind === 'active'))
      this.effects.push({ type: 'renew' });
    this.setPhase(index, { ...phase, kind: 'active' });
    this.set(index, { failures: 0 });
    this.canTake(index);
    return true;
  }

  /** Ends the present life, with all partitions. */
  endLife(): void {
    const { life, nowMs } = this;
    if (life.kind !== 'alive') return;
    const dueMs = nowMs + this.rules.leaseDurationMs;
    const seen = { kind: 'seen', dueMs, renewal: 'seen' } as const;
    if (life.seen) this.setPeer(life.id, { ...seen, heartbeat: life.seen.heartbeat });
    for (const [index, { phase }] of this.partitions.entries())
      if (phase.kind !== 'other' && phase.kind !== 'aborted') this.lose(index);
    this.life = { kind: 'none' };
  }

  /** Aborts the work of a partition that another member owns or may own. */
  lose(index: number): void {
    const { phase } = this.partition(index);
    if (!isWorking(phase)) return this.setPhase(index, { kind: 'other', notBeforeMs: this.nowMs });
    this.effects.push({ type: 'end-work', partition: index, why: 'lost' });
    this.setPhase(index, { kind: 'aborted' });
    return this.cannotTake(index, Infinity);
  }

  /** Gives back a partition that this member holds, or that an unused claim still holds. */
  release(index: number, isWorking: boolean): void {
    const { lease } = this.partition(index);
    if (lease?.stored && lease.owner === this.id) {
      this.effects.push({ type: 'release', partition: index, stored: lease.stored });
      this.setPhase(index, { kind: 'releasing', isWorking, retryMs: undefined });
    } else this.released(index, isWorking);
  }

  /** Continues after a release; keeps the pause of an earlier failure. */
  released(index: number, isWorking: boolean): void {
    const { phase } = this.partition(index);
    const notBeforeMs = (phase.kind === 'releasing' && phase.notBeforeMs) || this.nowMs;
    this.setPhase(index, isWorking ? { kind: 'aborted' } : { kind: 'other', notBeforeMs });
  }

  /** Lets other members take the partition until the given time. */
  cannotTake(index: number, untilMs: number): void {
    this.#setCannotTake(index, { since: this.moment.wallTime, untilMs });
  }

  /** Makes this member a candidate for the partition again. */
  canTake(index: number): void {
    if (this.partition(index).cannotTake) this.#setCannotTake(index, undefined);
  }

  /** The other members choose owners by the heartbeat. */
  #setCannotTake(index: number, cannotTake: Partition['cannotTake']): void {
    this.set(index, { cannotTake });
    this.owners = undefined;
    this.effects.push({ type: 'renew' });
  }

  /** Hands over all partitions, and takes no others. */
  leave(): void {
    this.isLeaving = true;
    this.owners = undefined;
    this.effects.push({ type: 'renew' });
  }

  /** Counts a failure, and gives the partition back. @returns the pause before the next attempt */
  fail(index: number): number {
    const { leaseDurationMs, retryPeriodMs } = this.rules;
    const failures = this.partition(index).failures + 1;
    const factor = 2 ** (failures - 1);
    this.set(index, { failures });
    this.cannotTake(index, this.nowMs + Math.min(REST_LEASES * leaseDurationMs * factor, REST_MAX_MS));
    this.release(index, false);
    const { phase } = this.partition(index);
    const pauseMs = Math.min(retryPeriodMs * factor, RETRY_MAX_MS);
    const notBeforeMs = this.nowMs + pauseMs;
    if (phase.kind === 'other') this.setPhase(index, { ...phase, notBeforeMs });
    else if (phase.kind === 'releasing') this.setPhase(index, { ...phase, notBeforeMs });
    return pauseMs;
  }
}

/** The oldest failure: a young member is preferred for a partition when every other member has failed. */
const YOUNG = new Date(0).toISOString();

/** Returns the note of this member's heartbeat. */
export function noteOf(
  { partitions, isLeaving, youngUntilMs }: Pick<MemberState, 'partitions' | 'isLeaving' | 'youngUntilMs'>,
  { division }: MemberRules,
  isOver = false,
): Note {
  const holds: Record<number, readonly [number, boolean]> = {};
  const cannotTake: Record<number, string> = {};
  for (const [index, partition] of partitions.entries()) {
    const { phase } = partition;
    const epoch = epochOf(phase);
    if (epoch !== undefined) holds[index] = [epoch, phase.kind === 'active'];
    if (partition.cannotTake) cannotTake[index] = partition.cannotTake.since;
    else if (youngUntilMs !== undefined) cannotTake[index] = YOUNG;
  }
  return { division, isLeaving, isOver, holds, cannotTake };
}
