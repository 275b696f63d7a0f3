/**
 * A member of a group whose members share a fixed number of partitions: one Lease a partition, and one heartbeat Lease a member.
 * Members agree on preferred owners without talking to each other; the leases alone decide who owns a partition.
 */
import type { Clock, Random } from '../base/clock.ts';
import type { KubeloomError } from '../base/errors.ts';
import { onAbort } from '../base/on-abort.ts';
import type { Observation } from '../controller/leader-election/election-state.ts';
import { heldUntilMs, observationOf } from '../controller/leader-election/election-step.ts';
import type { ResourceLock, StoredRecord } from '../controller/leader-election/resource-lock.ts';
import { preferredOwners, wishesOf } from './ownership.ts';
import { PartitionRunner } from './partition-runner.ts';
import type { WorkOnPartition } from './partition-runner.ts';
import type { PartitionRules, PartitionState, Wish } from './partition-state.ts';

/** Lease durations after which the heartbeat lease of a member that is gone is removed. */
const FORGET_AFTER_LEASES = 20;

/** @internal */
export interface PartitionMemberParts {
  readonly group: string;
  readonly rules: PartitionRules;
  readonly partitionCount: number;
  readonly lockOf: (leaseName: string) => ResourceLock;
  readonly work: WorkOnPartition;
  /** Deletes the heartbeat lease of a member that is gone, if it still has this version. */
  readonly forget: (leaseName: string, stored: StoredRecord) => void;
  readonly onChanged: (partition: number, before: PartitionState, after: PartitionState) => void;
  readonly onError: (error: KubeloomError) => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** @internal */
export class PartitionMember {
  readonly #parts: PartitionMemberParts;
  readonly #heartbeat: PartitionRunner;
  readonly #partitions: readonly PartitionRunner[];
  readonly #partitionNames: readonly string[];
  readonly #heartbeats = new Map<string, Observation>();
  readonly #outcome: Promise<void>;
  #resolve: () => void = () => undefined;
  #wishes: readonly Wish[] = [];
  #heartbeatWish: Wish = 'leave';
  #phase: 'new' | 'running' | 'leaving' | 'ended' = 'new';
  #isDecisionDue = false;
  #cancelTimer: () => void = () => undefined;

  constructor(parts: PartitionMemberParts) {
    this.#parts = parts;
    const { group, rules, partitionCount, lockOf, work, onError, clock, random } = parts;
    const common = { rules, clock, random, onError };
    this.#partitionNames = Array.from(
      { length: partitionCount },
      (_, partition) => `${group}-partition-${String(partition).padStart(2, '0')}`,
    );
    this.#partitions = this.#partitionNames.map((name, partition) => {
      const wish = (): Wish => this.#wishes[partition] ?? 'leave';
      const onChanged = (before: PartitionState, after: PartitionState): void => {
        parts.onChanged(partition, before, after);
        this.#decideSoon();
      };
      return new PartitionRunner({ ...common, partition, lock: lockOf(name), wish, work, onChanged });
    });
    this.#heartbeat = new PartitionRunner({
      ...common,
      partition: partitionCount,
      lock: lockOf(memberLease(group, rules.identity)),
      wish: () => this.#heartbeatWish,
      onChanged: () => this.#decideSoon(),
      work: ({ drainSignal }) => new Promise((resolve) => onAbort(drainSignal, resolve)),
    });
    this.#outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** States of the partitions, by the clock of this moment. */
  get states(): readonly PartitionState[] {
    return this.#partitions.map(({ state }) => state);
  }

  /** Preferred owners of the partitions, as this member sees the group. */
  get owners(): readonly (string | undefined)[] {
    return preferredOwners(this.#partitions.length, this.#liveMembers());
  }

  /**
   * Receives the newest record of a lease of the group; undefined when it is deleted. The first list must be received
   * before `run`: a member that does not see the others takes itself for the only one.
   */
  see(leaseName: string, stored: StoredRecord | undefined): void {
    const partition = this.#partitionNames.indexOf(leaseName);
    if (partition >= 0) return this.#partitions[partition]?.see(stored);
    const prefix = memberLease(this.#parts.group, '');
    if (!leaseName.startsWith(prefix)) return undefined;
    const identity = leaseName.slice(prefix.length);
    if (identity === this.#parts.rules.identity) return undefined;
    const observed = observationOf(this.#heartbeats.get(identity), stored, this.#parts.clock.now());
    if (observed) this.#heartbeats.set(identity, observed);
    else this.#heartbeats.delete(identity);
    return this.#decideSoon();
  }

  /** Takes part in the group until the signal is aborted; then hands over all partitions. It runs once. */
  async run(signal: AbortSignal): Promise<void> {
    this.#phase = 'running';
    const unlisten = onAbort(signal, () => this.#leave());
    if (signal.aborted) this.#leave();
    this.#decideSoon();
    await this.#outcome;
    unlisten();
  }

  #leave(): void {
    this.#phase = 'leaving';
    this.#decideSoon();
  }

  /** Decides after the events of this turn, which may be many. */
  #decideSoon(): void {
    if (this.#isDecisionDue || this.#phase === 'new' || this.#phase === 'ended') return;
    this.#isDecisionDue = true;
    queueMicrotask(() => {
      this.#isDecisionDue = false;
      this.#decide();
    });
  }

  #decide(): void {
    const { states } = this;
    const owners = this.#phase === 'running' ? this.owners : undefined;
    const before = this.#wishes;
    this.#wishes = wishesOf(states, owners, this.#parts.rules.identity);
    // Without a heartbeat the other members are the preferred owners at once, and claim each partition as it is released.
    const heartbeatWish = owners ? 'own' : 'leave';
    if (heartbeatWish !== this.#heartbeatWish) {
      this.#heartbeatWish = heartbeatWish;
      this.#heartbeat.tick();
    }
    for (const [partition, runner] of this.#partitions.entries())
      if (this.#wishes[partition] !== before[partition]) runner.tick();
    this.#cancelTimer();
    const isIdle = [...this.states, this.#heartbeat.state].every(({ kind }) => kind === 'free');
    if (!owners && isIdle) return this.#end();
    this.#forgetOld();
    return this.#waitForHeartbeats();
  }

  /** Decides again when the next heartbeat of another member is missing, or can be forgotten. */
  #waitForHeartbeats(): void {
    const { clock } = this.#parts;
    const times = Array.from(this.#heartbeats.values(), (seen) => {
      const untilMs = this.#aliveUntilMs(seen);
      return untilMs < Infinity ? untilMs : this.#forgetMs(seen);
    });
    const nextMs = Math.min(...times);
    if (nextMs < Infinity)
      this.#cancelTimer = clock.schedule(Math.ceil(nextMs - clock.now()), () => this.#decideSoon());
  }

  #forgetOld(): void {
    const { clock, forget, group } = this.#parts;
    for (const [identity, seen] of this.#heartbeats) {
      if (clock.now() < this.#forgetMs(seen)) continue;
      this.#heartbeats.delete(identity);
      forget(memberLease(group, identity), seen.stored);
    }
  }

  #forgetMs({ atMs }: Observation): number {
    return atMs + FORGET_AFTER_LEASES * this.#parts.rules.leaseDurationMs;
  }

  #end(): void {
    this.#phase = 'ended';
    this.#resolve();
  }

  #liveMembers(): string[] {
    const live = new Set([this.#parts.rules.identity]);
    for (const [identity, seen] of this.#heartbeats)
      if (this.#aliveUntilMs(seen) < Infinity) live.add(identity);
    return [...live].toSorted();
  }

  /** Returns the time at which a member counts as gone; Infinity when it does already, and no timer is needed. */
  #aliveUntilMs(seen: Observation): number {
    if (seen.stored.record.holderIdentity === '') return Infinity;
    const untilMs = heldUntilMs(seen, this.#parts.rules);
    return untilMs > this.#parts.clock.now() ? untilMs : Infinity;
  }
}

function memberLease(group: string, identity: string): string {
  return `${group}-member-${identity}`;
}
