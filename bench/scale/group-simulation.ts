/**
 * A group of members that share slots on Leases, in fake time: members come, leave, are killed, and slots move. It is a
 * model of the rules in client-go's times, without faults of the network; one seed gives one run.
 *
 * ```
 * killed:  ....lease not renewed for 15 s....  claim  list  active
 * moved:   work drains  release  claim  list  active
 *                       └───── the gap: no member works the slot ─────┘
 * ```
 */
import { FakeClock, seededRandom } from '../../src/apiserver/testing/index.ts';
import type { Random } from '../../src/base/clock.ts';
import { preferredOwners } from '../../src/controller/slots/ownership.ts';

/** client-go's defaults: a lease lasts for 15 s and is renewed every 2 s. */
export const LEASE_MS = 15_000;
export const RENEW_MS = 2000;
/** Assumed: a write of a Lease and its way through the watch of another member take 25 ms each. */
const WRITE_MS = 25;
const WATCH_MS = 25;

export interface GroupPlan {
  readonly members: number;
  readonly slots: number;
  /** Time in which a member lists one slot, alone. Its lists follow one another. */
  readonly syncMs: number;
  /** Longest time for which a member's work on a slot drains; each time up to that is equally likely. */
  readonly drainMsMax: number;
}

/** `replace`: each member in turn leaves, and another one joins, as in a rolling update. */
export type Incident = 'kill' | 'leave' | 'join' | 'replace';

export interface Outcome {
  /** Times for which no member worked a slot, one for each slot of members that ended. */
  readonly orphanGapsMs: readonly number[];
  /** The same, for slots that one living member handed over to another. */
  readonly movedGapsMs: readonly number[];
  /** Time from the incident to the last active slot. */
  readonly settledMs: number;
  /** Most slots of one member in the end. */
  readonly slotsMax: number;
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

interface Slot {
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
  readonly #slots: readonly Slot[];
  readonly #orphanGapsMs: number[] = [];
  readonly #movedGapsMs: number[] = [];
  #owners: readonly (string | undefined)[] = [];

  constructor(plan: GroupPlan, random: Random) {
    this.#plan = plan;
    this.#random = random;
    this.#slots = Array.from({ length: plan.slots }, () => ({
      owner: undefined,
      state: 'free',
      isOrphan: false,
      idleSinceMs: 0,
    }));
  }

  /** Begins with members that have owned their slots for long. */
  start(members: readonly string[]): void {
    for (const member of members) this.#members.set(member, newMember());
    this.#owners = preferredOwners(this.#plan.slots, members);
    for (const [index, slot] of this.#slots.entries()) {
      slot.owner = this.#owners[index];
      slot.state = 'active';
    }
  }

  join(member: string): void {
    this.#members.set(member, newMember());
    this.#membersChanged();
  }

  /** Ends a member without a word: its leases expire, each 15 s after its last renewal was seen. */
  kill(member: string): void {
    for (const slot of this.#end(member)) {
      slot.state = 'draining';
      slot.idleSinceMs = this.#clock.now();
      this.#clock.schedule(this.#expiryMs(), () => this.#free(slot));
    }
    this.#clock.schedule(this.#expiryMs(), () => this.#forget(member));
  }

  /** Ends a member that drains all of its slots at once, and releases its heartbeat after the last of them. */
  leave(member: string): void {
    const slots = this.#end(member);
    let left = slots.length;
    if (left === 0) this.#forget(member);
    for (const slot of slots)
      this.#release(slot, () => {
        left--;
        if (left === 0) this.#clock.schedule(WRITE_MS + WATCH_MS, () => this.#forget(member));
      });
  }

  settle(): void {
    while (this.#clock.advanceToNext());
  }

  outcome(): Outcome {
    const counts = new Map<string | undefined, number>();
    for (const { owner } of this.#slots) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return {
      orphanGapsMs: this.#orphanGapsMs,
      movedGapsMs: this.#movedGapsMs,
      settledMs: this.#clock.now(),
      slotsMax: Math.max(...counts.values()),
    };
  }

  #end(identity: string): readonly Slot[] {
    const member = this.#members.get(identity);
    if (member) member.isEnding = true;
    const slots = this.#slots.filter(({ owner }) => owner === identity);
    for (const slot of slots) slot.isOrphan = true;
    return slots;
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
    this.#owners = preferredOwners(this.#plan.slots, [...this.#members.keys()]);
    this.#decide();
  }

  #free(slot: Slot): void {
    slot.owner = undefined;
    slot.state = 'free';
    this.#decide();
  }

  /** Claims what is free, and hands over one slot of each member that has one of another. */
  #decide(): void {
    for (const [index, slot] of this.#slots.entries()) {
      const preferred = this.#owners[index];
      if (slot.state === 'free') this.#claim(slot, preferred);
      else if (slot.state === 'active' && slot.owner !== preferred) this.#handOver(slot);
    }
  }

  #claim(slot: Slot, owner: string | undefined): void {
    const member = owner === undefined ? undefined : this.#members.get(owner);
    if (!member || member.isEnding) return;
    slot.owner = owner;
    slot.state = 'claimed';
    const beginsMs = Math.max(this.#clock.now() + WRITE_MS, member.listsUntilMs);
    member.listsUntilMs = beginsMs + this.#plan.syncMs;
    this.#clock.schedule(member.listsUntilMs - this.#clock.now(), () => {
      slot.state = 'active';
      (slot.isOrphan ? this.#orphanGapsMs : this.#movedGapsMs).push(this.#clock.now() - slot.idleSinceMs);
      slot.isOrphan = false;
      this.#decide();
    });
  }

  #handOver(slot: Slot): void {
    const member = slot.owner === undefined ? undefined : this.#members.get(slot.owner);
    if (!member || member.isHandingOver) return;
    member.isHandingOver = true;
    this.#release(slot, () => {
      member.isHandingOver = false;
    });
  }

  /** Drains the work on a slot, then writes its lease; `released` is called before another member sees that. */
  #release(slot: Slot, released: () => void): void {
    slot.state = 'draining';
    this.#clock.schedule(this.#random() * this.#plan.drainMsMax, () => {
      slot.idleSinceMs = this.#clock.now();
      this.#clock.schedule(WRITE_MS, () => {
        released();
        this.#clock.schedule(WATCH_MS, () => this.#free(slot));
      });
    });
  }
}

function newMember(): Member {
  return { listsUntilMs: 0, isHandingOver: false, isEnding: false };
}
