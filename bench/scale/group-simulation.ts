/**
 * A group of members that share partitions on Leases, in fake time: members come, leave, are killed, and partitions move. It is a
 * model of the rules in client-go's times, without faults of the network; one seed gives one run.
 *
 * ```
 * killed:  ....lease not renewed for 15 s....  claim  list  active
 * moved:   work drains  release  claim  list  active
 *                       └───── the gap: no member works the partition ─────┘
 * ```
 */
import { FakeClock, seededRandom } from '../../src/tools/apiserver/testing/index.ts';
import type { Random } from '../../src/base/clock.ts';
import { preferredOwners } from '../../src/partitions/ownership.ts';

/** client-go's defaults: a lease lasts for 15 s and is renewed every 2 s. */
export const LEASE_MS = 15_000;
export const RENEW_MS = 2000;
/** Assumed: a write of a Lease and its way through the watch of another member take 25 ms each. */
const WRITE_MS = 25;
const WATCH_MS = 25;

export interface GroupPlan {
  readonly members: number;
  readonly partitions: number;
  /** Time in which a member lists one partition, alone. Its lists follow one another. */
  readonly syncMs: number;
  /** Longest time for which a member's work on a partition drains; each time up to that is equally likely. */
  readonly drainMsMax: number;
}

/** `replace`: each member in turn leaves, and another one joins, as in a rolling update. */
export type Incident = 'kill' | 'leave' | 'join' | 'replace';

export interface Outcome {
  /** Times for which no member worked a partition, one for each partition of members that ended. */
  readonly orphanGapsMs: readonly number[];
  /** The same, for partitions that one living member handed over to another. */
  readonly movedGapsMs: readonly number[];
  /** Time from the incident to the last active partition. */
  readonly settledMs: number;
  /** Most partitions of one member in the end. */
  readonly partitionsMax: number;
}

export function simulate(plan: GroupPlan, incident: Incident, seed: number): Outcome {
  const group = new Group(plan, seededRandom(seed));
  const members = Array.from({ length: plan.members }, (_, index) => `member ${index} of ${seed}`);
  const [first = ''] = members;
  const nextOf = (member: string): string => `another ${member}`;
  group.start(members);
  if (incident === 'join') group.join(nextOf(first));
  else if (incident === 'kill') group.kill(first);
  else if (incident === 'leave') group.leave(first);
  else
    for (const member of members) {
      group.leave(member);
      group.settle();
      group.join(nextOf(member));
      group.settle();
    }
  group.settle();
  return group.outcome();
}

interface Member {
  /** Time at which the last of its lists ends. */
  listsUntilMs: number;
  isHandingOver: boolean;
  /** It claims nothing: it was killed, or leaves. The others count it as a member until its heartbeat ends. */
  isEnding: boolean;
}

interface Partition {
  owner: string | undefined;
  state: 'free' | 'claimed' | 'active' | 'draining';
  /** Its last owner ended. */
  isOrphan: boolean;
  /** Time since which no member works it. */
  idleSinceMs: number;
}

class Group {
  readonly #plan: GroupPlan;
  readonly #random: Random;
  readonly #clock = new FakeClock(0);
  readonly #members = new Map<string, Member>();
  readonly #partitions: readonly Partition[];
  readonly #orphanGapsMs: number[] = [];
  readonly #movedGapsMs: number[] = [];
  #owners: readonly (string | undefined)[] = [];

  constructor(plan: GroupPlan, random: Random) {
    this.#plan = plan;
    this.#random = random;
    this.#partitions = Array.from({ length: plan.partitions }, () => ({
      owner: undefined,
      state: 'free',
      isOrphan: false,
      idleSinceMs: 0,
    }));
  }

  /** Begins with members that have owned their partitions for long. */
  start(members: readonly string[]): void {
    for (const member of members) this.#members.set(member, newMember());
    this.#owners = preferredOwners(this.#plan.partitions, members);
    for (const [index, partition] of this.#partitions.entries()) {
      partition.owner = this.#owners[index];
      partition.state = 'active';
    }
  }

  join(member: string): void {
    this.#members.set(member, newMember());
    this.#membersChanged();
  }

  /** Ends a member without a word: its leases expire, each 15 s after its last renewal was seen. */
  kill(member: string): void {
    for (const partition of this.#end(member)) {
      partition.state = 'draining';
      partition.idleSinceMs = this.#clock.now();
      this.#clock.schedule(this.#expiryMs(), () => this.#free(partition));
    }
    this.#clock.schedule(this.#expiryMs(), () => this.#forget(member));
  }

  /** Ends a member that drains all of its partitions at once, and releases its heartbeat after the last of them. */
  leave(member: string): void {
    const partitions = this.#end(member);
    let left = partitions.length;
    if (left === 0) this.#forget(member);
    for (const partition of partitions)
      this.#release(partition, () => {
        left--;
        if (left === 0) this.#clock.schedule(WRITE_MS + WATCH_MS, () => this.#forget(member));
      });
  }

  settle(): void {
    while (this.#clock.advanceToNext());
  }

  outcome(): Outcome {
    const counts = new Map<string | undefined, number>();
    for (const { owner } of this.#partitions) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return {
      orphanGapsMs: this.#orphanGapsMs,
      movedGapsMs: this.#movedGapsMs,
      settledMs: this.#clock.now(),
      partitionsMax: Math.max(...counts.values()),
    };
  }

  #end(identity: string): readonly Partition[] {
    const member = this.#members.get(identity);
    if (member) member.isEnding = true;
    const partitions = this.#partitions.filter(({ owner }) => owner === identity);
    for (const partition of partitions) partition.isOrphan = true;
    return partitions;
  }

  /** Returns how long the others wait for a lease that was renewed at some time within the last period. */
  #expiryMs(): number {
    return LEASE_MS + WRITE_MS + WATCH_MS - this.#random() * RENEW_MS;
  }

  #forget(member: string): void {
    this.#members.delete(member);
    this.#membersChanged();
  }

  #membersChanged(): void {
    this.#owners = preferredOwners(this.#plan.partitions, [...this.#members.keys()]);
    this.#decide();
  }

  #free(partition: Partition): void {
    partition.owner = undefined;
    partition.state = 'free';
    this.#decide();
  }

  /** Claims what is free, and hands over one partition of each member that has one of another. */
  #decide(): void {
    for (const [index, partition] of this.#partitions.entries()) {
      const preferred = this.#owners[index];
      if (partition.state === 'free') this.#claim(partition, preferred);
      else if (partition.state === 'active' && partition.owner !== preferred) this.#handOver(partition);
    }
  }

  #claim(partition: Partition, owner: string | undefined): void {
    const member = owner === undefined ? undefined : this.#members.get(owner);
    if (!member || member.isEnding) return;
    partition.owner = owner;
    partition.state = 'claimed';
    const beginsMs = Math.max(this.#clock.now() + WRITE_MS, member.listsUntilMs);
    member.listsUntilMs = beginsMs + this.#plan.syncMs;
    this.#clock.schedule(member.listsUntilMs - this.#clock.now(), () => {
      partition.state = 'active';
      (partition.isOrphan ? this.#orphanGapsMs : this.#movedGapsMs).push(
        this.#clock.now() - partition.idleSinceMs,
      );
      partition.isOrphan = false;
      this.#decide();
    });
  }

  #handOver(partition: Partition): void {
    const member = partition.owner === undefined ? undefined : this.#members.get(partition.owner);
    if (!member || member.isHandingOver) return;
    member.isHandingOver = true;
    this.#release(partition, () => {
      member.isHandingOver = false;
    });
  }

  /** Drains the work on a partition, then writes its lease; `released` is called before another member sees that. */
  #release(partition: Partition, released: () => void): void {
    partition.state = 'draining';
    this.#clock.schedule(this.#random() * this.#plan.drainMsMax, () => {
      partition.idleSinceMs = this.#clock.now();
      this.#clock.schedule(WRITE_MS, () => {
        released();
        this.#clock.schedule(WATCH_MS, () => this.#free(partition));
      });
    });
  }
}

function newMember(): Member {
  return { listsUntilMs: 0, isHandingOver: false, isEnding: false };
}
