/**
 * A life of a group from a seed: members come, leave, are killed, frozen, suspended and cut off, their watches break, leases are
 * deleted and edited, and the network is slow and loses requests and answers, while clocks run at rates of their own. Then
 * everything is calm. Judged: no two members work on a partition by their signals, epochs grow, and in the calm every partition is
 * worked on soon.
 */
import { FakeClock, seededRandom } from '../../../src/tools/apiserver/testing/index.ts';
import type { Random } from '../../../src/base/clock.ts';
import { onAbort } from '../../../src/base/on-abort.ts';
import type { step } from '../../../src/controller/leader-election/election-step.ts';
import type { memberStep } from '../../../src/partitions/member-step.ts';
import { PartitionMember } from '../../../src/partitions/partition-member.ts';
import type { Tenure } from '../../../src/partitions/tenure.ts';
import type { LeaderElectionRecord } from '../../../src/controller/index.ts';
import { SimulatedProcess } from '../election/process.ts';
import { Keys } from './keys.ts';
import { LeaseStore } from './store.ts';

/** A wrong rule, or a careless server. */
export interface Mutant {
  readonly title: string;
  readonly step?: typeof memberStep;
  readonly electionStep?: typeof step;
  readonly isServerCareless?: boolean;
}

export interface Life {
  readonly violations: readonly string[];
  /** Works that were begun, lost, and handed over. */
  readonly begun: number;
  readonly lost: number;
  readonly handedOver: number;
}

export const PARTITIONS = 4;
const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };
/** Rates of clocks differ by less than the ratio of lease and deadline. */
const DEVIATION = 0.15;
const MEMBERS = 3;
const MEMBERS_MAX = 6;
const STORM_MS = 150_000;
const CALM_MS = 60_000;
/** Longest youth of a member whose identity ended again and again, and the moves after it, with the slowest clock. */
const BALANCE_MS = 450_000;
const OUTAGE_MAX_MS = 30_000;
const PROMISE_HOPS = 12;
const LATE_MAX_MS = 2000;
/** A renewal and its requests in calm weather, with the slowest clock. */
const RENEWAL_MAX_MS = 3000;
/** Edits of a heartbeat by a person. */
const EDITS: readonly ((note: object, division: string) => Partial<LeaderElectionRecord>)[] = [
  () => ({ holderIdentity: '' }),
  () => ({ holderIdentity: 'm' }),
  () => ({ leaseDurationSeconds: 1 }),
  () => ({ holderIdentity: '', leaseDurationSeconds: 1 }),
  (note, division) => ({ note: JSON.stringify({ ...note, division }) }),
];

class Member {
  readonly process: SimulatedProcess;
  readonly member: PartitionMember;
  readonly works: Map<number, Tenure> = new Map();
  readonly stop: AbortController = new AbortController();
  readonly breakWatch: (forMs: number) => void;
  #filledMs: number | undefined;
  isFrozen = false;
  hasEnded = false;

  constructor(world: World, identity: string, mutant: Mutant | undefined) {
    const { truth, random, store } = world;
    const rate = 1 + DEVIATION * (2 * random() - 1);
    this.process = new SimulatedProcess({ truth, random, identity, rate, lateMaxMs: world.lateMaxMs });
    this.member = new PartitionMember({
      group: 'g',
      identity,
      rules: { ...TIMES, drainTimeoutMs: 20_000, partitionCount: PARTITIONS, division: 'uid' },
      lockOf: (name) => store.lockOf(this.process, name),
      work: (tenure) => this.#work(world, tenure),
      forget: (name, version) => void store.forget(this.process, name, version),
      onChanged: () => undefined,
      onError: () => undefined,
      shutdownTimeoutMs: 60_000,
      clock: this.process.clock,
      random,
      ...(mutant?.step ? { step: mutant.step } : {}),
      ...(mutant?.electionStep ? { electionStep: mutant.electionStep } : {}),
    });
    this.breakWatch = store.watch({
      process: this.process,
      see: (name, stored) => this.member.see(name, stored),
    });
    void this.member
      .run(this.stop.signal)
      .catch((error: unknown) => {
        if (!this.isGone) world.violations.push(`${identity} has ended: ${String(error)}`);
      })
      .finally(() => (this.hasEnded = true));
  }

  get isGone(): boolean {
    return this.process.isDead || this.stop.signal.aborted;
  }

  isWorking(partition: number): boolean {
    const tenure = this.works.get(partition);
    const { isDead, isStale } = this.process;
    return tenure !== undefined && !isDead && !isStale && !this.isFrozen && !tenure.signal.aborted;
  }

  async #work(world: World, tenure: Tenure): Promise<void> {
    const { partition, drainSignal } = tenure;
    const { random } = world;
    world.begin(partition, tenure.epoch, this.process.isStale);
    if (this.works.has(partition)) world.violations.push(`two works of one member on partition ${partition}`);
    this.works.set(partition, tenure);
    const close = world.keys.open(this.process, tenure);
    // The first work fills the caches, which the others have in common.
    this.#filledMs ??= this.process.clock.now() + world.fillMs;
    const fillMs = Math.max(this.#filledMs - this.process.clock.now(), 0);
    this.process.clock.schedule(fillMs + random() * 1000, tenure.synced);
    await new Promise<void>((resolve) => onAbort(drainSignal, resolve));
    const endMs = random() * (random() < world.slowShare ? 40_000 : 3000);
    if (!tenure.signal.aborted)
      await new Promise<void>((resolve) => this.process.clock.schedule(endMs, resolve));
    close();
    this.works.delete(partition);
    if (tenure.signal.aborted) world.lost++;
    else world.handedOver++;
  }
}

export interface WorldOptions {
  readonly weather?: 'storm' | 'calm';
  readonly members?: number;
  readonly lateMaxMs?: number;
  readonly fillMs?: number;
}

/** A group on one server, with faults unless the weather is calm. */
export class World {
  readonly truth = new FakeClock(0);
  readonly random: Random;
  readonly store: LeaseStore;
  readonly keys: Keys;
  readonly violations: string[] = [];
  readonly members: Member[] = [];
  readonly #mutant: Mutant | undefined;
  readonly #epochs: number[] = [];
  /** Partitions whose lease was deleted: their epochs may begin again when its owner is killed as well. */
  readonly #deleted: Set<number> = new Set();
  #names = 0;
  /** Share of works that do not end within the time for draining. */
  readonly slowShare: number;
  /** Longest time by which timers of the members are late. */
  readonly lateMaxMs: number;
  /** Time of a member for its first list. */
  readonly fillMs: number;
  /** Longest time for which a member that was suspended does not find out that it is over. */
  readonly staleMs: number;
  begun = 0;
  lost = 0;
  handedOver = 0;

  constructor(seed: number, mutant: Mutant | undefined, options: WorldOptions = {}) {
    const { weather = 'storm', members = MEMBERS } = options;
    this.random = seededRandom(seed);
    this.#mutant = mutant;
    this.store = new LeaseStore(this.truth, this.random);
    this.keys = new Keys(this.truth, this.random, PARTITIONS);
    this.store.isCareless = mutant?.isServerCareless ?? false;
    const isStormy = weather === 'storm';
    this.slowShare = isStormy ? 0.1 : 0;
    if (isStormy) this.store.badShare = this.random() < 0.4 ? 0 : this.random() * 0.4;
    this.staleMs = isStormy ? TIMES.renewDeadlineMs / (1 - DEVIATION) : RENEWAL_MAX_MS;
    const isChurning = this.random() < 0.2;
    const isBusy = isStormy && this.random() < 0.3;
    this.lateMaxMs = options.lateMaxMs ?? (isBusy ? LATE_MAX_MS : 0);
    this.fillMs = options.fillMs ?? 0;
    for (let count = 0; count < members; count++) this.join();
    if (isStormy) this.#meetFault(isChurning ? 1000 : undefined);
  }

  join(identity: string = `m${this.#names++}`): void {
    this.members.push(new Member(this, identity, this.#mutant));
  }

  /** @param isStale whether the claim may be older than a suspension */
  begin(partition: number, epoch: number, isStale: boolean): void {
    this.begun++;
    const last = this.#epochs[partition] ?? -1;
    if (epoch <= last && !this.#deleted.has(partition) && !isStale)
      this.violations.push(`partition ${partition} has epoch ${epoch} after ${last}`);
    this.#epochs[partition] = isStale ? Math.max(epoch, last) : epoch;
  }

  get present(): readonly Member[] {
    return this.members.filter(({ isGone }) => !isGone);
  }

  /** Names a partition that two members work on. */
  judge(): void {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const workers = this.members.filter((member) => member.isWorking(partition));
      if (workers.length < 2) continue;
      const names = workers.map(
        ({ process, works }) => `${process.identity} in ${works.get(partition)?.epoch}`,
      );
      this.violations.push(`partition ${partition} at ${this.truth.now()} ms: ${names.join(' and ')}`);
    }
  }

  /** Goes to the next time at which something happens. @returns false if nothing will happen any more */
  async advance(): Promise<boolean> {
    if (!this.truth.advanceToNext()) return false;
    for (let hop = 0; hop < PROMISE_HOPS; hop++) await Promise.resolve();
    this.judge();
    return true;
  }

  /** Whether the numbers of active partitions of any two members differ by at most 1. Processes of one name are one member. */
  get isBalanced(): boolean {
    const counts = new Map<string, number>();
    for (const { process, member } of this.present) {
      const active = member.states.filter(({ kind }) => kind === 'active').length;
      counts.set(process.identity, (counts.get(process.identity) ?? 0) + active);
    }
    return Math.max(...counts.values()) - Math.min(...counts.values()) <= 1;
  }

  isServed(partition: number): boolean {
    return this.members.some(
      (member) => member.isWorking(partition) && member.member.states[partition]?.kind === 'active',
    );
  }

  #meetFault(everyMs: number | undefined): void {
    this.truth.schedule(everyMs ?? this.random() * 15_000, () => {
      if (this.truth.now() >= STORM_MS) return;
      const { present } = this;
      const member = present[Math.floor(this.random() * present.length)];
      if (present.length < MEMBERS && this.random() < 0.7) this.join();
      else if (member) this.strike(member);
      this.#meetFault(everyMs);
    });
  }

  strike(member: Member): void {
    const { process, stop } = member;
    switch (Math.floor(this.random() * 11)) {
      case 0:
        return process.kill();
      case 1:
        return process.run(() => stop.abort());
      case 2:
      case 3:
        return this.#freeze(member);
      case 8:
      case 9:
        return this.suspend(member);
      case 10:
        return this.#edit();
      case 4:
        return process.cutOff();
      case 5:
        return member.breakWatch(this.random() * OUTAGE_MAX_MS);
      case 6:
        // Some programs have an identity that the next process has again.
        if (this.present.length < MEMBERS_MAX) this.join(this.random() < 0.3 ? process.identity : undefined);
        return undefined;
      default:
        return this.#delete();
    }
  }

  suspend(member: Member): void {
    this.#freeze(member, true);
  }

  #freeze(member: Member, isSuspended = false): void {
    if (member.isFrozen) return;
    member.isFrozen = true;
    const continued = (): void => {
      member.isFrozen = false;
      // Code that asks its signal runs before all timers.
      this.judge();
    };
    if (isSuspended) member.process.suspend(this.staleMs, continued);
    else member.process.freeze(continued);
  }

  #edit(): void {
    const names = this.store.names.filter((name) => name.includes('-member-'));
    const change = EDITS[Math.floor(this.random() * EDITS.length)];
    const name = names[Math.floor(this.random() * names.length)] ?? '';
    // A second version with a wrong division counts.
    this.store.edit(name, ({ note = '' }) =>
      note.includes('"division":"uid"')
        ? change?.(JSON.parse(note) as object, `${this.truth.now()}`)
        : undefined,
    );
  }

  #delete(): void {
    const { names } = this.store;
    const name = names[Math.floor(this.random() * names.length)];
    if (name === undefined) return;
    const [, partition] = /-partition-(\d+)$/.exec(name) ?? [];
    if (partition !== undefined) this.#deleted.add(Number(partition));
    this.store.delete(name);
  }
}

export async function live(seed: number, mutant?: Mutant): Promise<Life> {
  const world = new World(seed, mutant);
  const { truth, violations } = world;
  const missing = new Set(Array.from({ length: PARTITIONS }, (_, partition) => partition));
  while (violations.length === 0 && truth.now() < STORM_MS + BALANCE_MS) {
    if (truth.now() >= STORM_MS) {
      world.store.badShare = 0;
      if (world.present.length === 0) world.join();
      for (const partition of missing) if (world.isServed(partition)) missing.delete(partition);
      if (missing.size === 0 && world.isBalanced) break;
      if (missing.size > 0 && truth.now() >= STORM_MS + 2 * CALM_MS) break;
    }
    if (!(await world.advance())) break;
  }
  if (violations.length === 0 && missing.size > 0)
    violations.push(
      `partitions ${[...missing].join(', ')} are not worked on ${2 * CALM_MS} ms after the storm`,
    );
  if (violations.length === 0 && !world.isBalanced)
    violations.push(`the members do not own equally many partitions ${BALANCE_MS} ms after the storm`);
  const { begun, lost, handedOver } = world;
  return { violations, begun, lost, handedOver };
}
