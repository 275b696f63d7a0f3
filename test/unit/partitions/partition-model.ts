/**
 * A model of two members and their partitions, and a checker that visits every state that any order of their events can reach.
 * The members run the rules of src; the model has the server, the network, the time and the faults:
 *
 * - a request is answered at once, unless it, or the answer, is late by any time, or lost: a fault;
 * - a member sees a changed record at once, until its watch fails: a fault;
 * - a work that was asked to end does so at any time. An aborted one no longer counts: it looks at its signal;
 * - a member may be frozen while time passes, and may be killed: faults;
 * - time passes only when no timer of a member that runs is due. Clocks show different times, and run equally fast.
 */
import type { LeaderElectionRecord } from '../../../src/controller/index.ts';
import { wishesOf } from '../../../src/partitions/ownership.ts';
import { isHeld, newPartition, partitionDueMs } from '../../../src/partitions/partition-state.ts';
import type {
  PartitionEffect,
  PartitionEvent,
  PartitionRules,
  Wish,
} from '../../../src/partitions/partition-state.ts';
import { CLOCK_OFFSETS_MS, TICK_MS, keyOf } from './partition-model-world.ts';
import type { Answer, Call, Member, OfPartition, World } from './partition-model-world.ts';
import type { partitionStep } from '../../../src/partitions/partition-step.ts';

const IDENTITIES = ['a', 'b'] as const;

export interface Protocol {
  readonly step: typeof partitionStep;
  readonly rules: Omit<PartitionRules, 'identity'>;
}

export interface Bounds {
  /** The preferred owner of each partition; `second` is what members see later, each at a time of its own. */
  readonly first: readonly string[];
  readonly second: readonly string[];
  readonly ticksMax: number;
  readonly faultsMax: number;
  /** Time within which every partition must be owned from the moment at which the faults end; undefined: not checked. */
  readonly progressTicks: number | undefined;
}

export interface CheckResult {
  readonly stateCount: number;
  /** Number of states in which a member owns a partition that the other one has owned: a check without any proves little. */
  readonly takenCount: number;
  /** The moves that led to a broken promise, and which one; undefined when none does. */
  readonly broken: readonly string[] | undefined;
}

interface Move {
  readonly name: string;
  readonly world: World;
  /** Whether the schedule without faults makes this move. */
  readonly isFair: boolean;
}

interface Visit {
  readonly from: string | undefined;
  readonly move: string;
}

export class PartitionModel {
  readonly #protocol: Protocol;
  readonly #bounds: Bounds;

  constructor(protocol: Protocol, bounds: Bounds) {
    this.#protocol = protocol;
    this.#bounds = bounds;
  }

  /**
   * Visits every reachable state, tick by tick: within the first tick with a broken promise, the shortest history of one.
   * States that differ only in the time that has passed since the beginning are one state.
   */
  check(): CheckResult {
    const start = this.#start();
    const visits = new Map<string, Visit>([[keyOf(start), { from: undefined, move: 'start' }]]);
    const byTick: World[][] = [[start]];
    let takenCount = 0;
    for (let tick = 0; tick < byTick.length; tick++) {
      for (const world of byTick[tick] ?? []) {
        const key = keyOf(world);
        if (world.records.some((record) => (record?.record.leaseTransitions ?? 0) > 0)) takenCount++;
        const broken = world.broken ?? this.#overlap(world) ?? this.#stuck(world);
        if (broken !== undefined) {
          return { stateCount: visits.size, takenCount, broken: [...traceTo(visits, key), broken] };
        }
        for (const move of this.#moves(world, this.#bounds.ticksMax)) {
          const nextKey = keyOf(move.world);
          if (visits.has(nextKey)) continue;
          visits.set(nextKey, { from: key, move: move.name });
          (byTick[move.world.tick] ??= []).push(move.world);
        }
      }
    }
    return { stateCount: visits.size, takenCount, broken: undefined };
  }

  #start(): World {
    const { first, faultsMax } = this.#bounds;
    const members = IDENTITIES.map((_, index) => ({
      partitions: first.map(
        () => ({ state: newPartition(this.#nowMs(0, index)), work: 'none', calls: [] }) as const,
      ),
      condition: 'running' as const,
      hasSecondView: false,
      isBlind: false,
    }));
    return {
      tick: 0,
      faultsLeft: faultsMax,
      records: first.map(() => undefined),
      epochs: first.map(() => -1),
      members,
      broken: undefined,
    };
  }

  /** S1: names a partition that two members work on. */
  #overlap({ tick, members }: World): string | undefined {
    for (const partition of this.#bounds.first.keys()) {
      const owners = IDENTITIES.filter((_, index) => this.#works(tick, members[index], index, partition));
      if (owners.length > 1) return `two members work on partition ${partition}`;
    }
    return undefined;
  }

  /** Progress: names a partition that stays without an owner on the schedule on which nothing else goes wrong. */
  #stuck(world: World): string | undefined {
    const { progressTicks, first } = this.#bounds;
    if (progressTicks === undefined || world.members.every(({ condition }) => condition !== 'running'))
      return undefined;
    const missing = new Set(first.keys());
    const endTick = world.tick + progressTicks;
    for (let now: World | undefined = world; now;) {
      for (const partition of missing) {
        const { tick, members } = now;
        if (members.some((member, index) => this.#works(tick, member, index, partition)))
          missing.delete(partition);
      }
      if (missing.size === 0) return undefined;
      now = this.#moves(now, endTick).find(({ isFair }) => isFair)?.world;
    }
    return `partition ${[...missing].join(', ')} has no owner ${progressTicks} ticks later`;
  }

  /** Whether a work runs by its signal, which looks at the clock. A frozen one counts. */
  #works(tick: number, member: Member | undefined, index: number, partition: number): boolean {
    const of = member?.partitions[partition];
    if (!of || member.condition === 'dead' || (of.work !== 'running' && of.work !== 'ending')) return false;
    return !isHeld(of.state) || this.#nowMs(tick, index) < of.state.election.untilMs;
  }

  #nowMs(tick: number, member: number): number {
    return tick * TICK_MS + (CLOCK_OFFSETS_MS[member] ?? 0);
  }

  #moves(world: World, ticksMax: number): Move[] {
    const moves: Move[] = [];
    let isDue = false;
    for (const [index, member] of world.members.entries()) {
      const name = IDENTITIES[index] ?? '';
      for (const partition of member.partitions.keys()) {
        for (const call of (member.partitions[partition]?.calls ?? []).keys())
          moves.push(...this.#callMoves(world, index, partition, call));
        if (member.condition !== 'running') continue;
        const due = this.#eventMoves(world, index, partition, moves);
        isDue ||= due;
      }
      const set = (change: Partial<Member>, faults: number): World => ({
        ...withMember(world, index, { ...member, ...change }),
        faultsLeft: world.faultsLeft - faults,
      });
      if (
        member.condition === 'running' &&
        !member.hasSecondView &&
        this.#bounds.second !== this.#bounds.first
      )
        moves.push({ name: `${name}: other members`, world: set({ hasSecondView: true }, 0), isFair: false });
      if (member.condition === 'frozen')
        moves.push({ name: `${name} continues`, world: set({ condition: 'running' }, 0), isFair: false });
      if (world.faultsLeft === 0 || member.condition !== 'running') continue;
      moves.push({ name: `${name} is frozen`, world: set({ condition: 'frozen' }, 1), isFair: false });
      if (!member.isBlind)
        moves.push({ name: `${name} is blind`, world: set({ isBlind: true }, 1), isFair: false });
      const partitions = member.partitions.map(killed);
      moves.push({
        name: `${name} is killed`,
        world: set({ condition: 'dead', partitions }, 1),
        isFair: false,
      });
    }
    const isPending = world.members.some(({ partitions }) =>
      partitions.some(({ calls }) => calls.some(({ isLate, answer }) => !isLate && !answer)),
    );
    const later = { ...world, tick: world.tick + 1 };
    if (!isDue && !isPending && world.tick < ticksMax)
      moves.push({ name: `tick ${later.tick}`, world: later, isFair: true });
    return moves;
  }

  /** Adds the events that can happen to a partition of a running member; returns whether a timer is due. */
  #eventMoves(world: World, member: number, partition: number, moves: Move[]): boolean {
    const of = partitionOf(world, member, partition);
    const name = `${IDENTITIES[member]} partition ${partition}`;
    const { state, work } = of;
    const stored = world.records[partition];
    const observed = state.kind === 'free' ? state.observed : undefined;
    const isNews = state.kind === 'free' && stored !== undefined && stored !== observed?.stored;
    if (isNews && !world.members[member]?.isBlind) {
      const seen = this.#happen(world, member, partition, { type: 'seen', stored });
      // Before anything else of this partition: a later one is the watch that has failed.
      moves.push({ name: `${name}: sees`, world: seen, isFair: true });
      return true;
    }
    if (work === 'ending' || work === 'aborted') {
      const ended = withPartition(world, member, partition, { ...of, work: 'none' });
      const event = { type: 'worked', failure: undefined } as const;
      moves.push({
        name: `${name}: work ends`,
        world: this.#happen(ended, member, partition, event),
        isFair: true,
      });
    }
    const wish = this.#wish(world, member, partition);
    const due = partitionDueMs(state, wish, this.#rules(member));
    const isLeft =
      wish === 'leave' && (state.kind === 'syncing' || state.kind === 'active' || state.kind === 'claiming');
    if (!isLeft && (due === undefined || this.#nowMs(world.tick, member) < due)) return false;
    moves.push({
      name: `${name}: tick`,
      world: this.#happen(world, member, partition, { type: 'tick' }),
      isFair: true,
    });
    return true;
  }

  /** A request and its answer need no time, unless a fault makes one of them late: then it may arrive at any time. */
  #callMoves(world: World, member: number, partition: number, index: number): Move[] {
    const of = partitionOf(world, member, partition);
    const call = of.calls[index];
    if (!call) return [];
    const name = `${IDENTITIES[member]} partition ${partition}`;
    const others = of.calls.filter((other) => other !== call);
    const without = withPartition(world, member, partition, { ...of, calls: others });
    const isRunning = world.members[member]?.condition === 'running';
    const change = (from: World, to: Partial<Call>, faults: number): World => ({
      ...withPartition(from, member, partition, { ...of, calls: [...others, { ...call, ...to }] }),
      faultsLeft: world.faultsLeft - faults,
    });
    if (call.answer) {
      if (!isRunning) return [];
      const answered = this.#happen(without, member, partition, call.answer);
      return [{ name: `${name}: late answer`, world: answered, isFair: !call.isLate }];
    }
    const { records, answer } = serve(world, partition, call);
    const served = { ...without, records };
    const text = `${name}: ${call.isLate ? 'late ' : ''}${call.write ? 'write' : 'read'}, ${answer.type}`;
    const next = call.isCancelled
      ? served
      : isRunning
        ? this.#happen(served, member, partition, answer)
        : change(served, { answer }, 0);
    const moves: Move[] = [{ name: text, world: next, isFair: !call.isLate }];
    if (call.isLate || world.faultsLeft === 0) return moves;
    moves.push({
      name: `${text}: the request is late`,
      world: change(world, { isLate: true }, 1),
      isFair: false,
    });
    const late = change({ ...world, records }, { answer, isLate: true }, 1);
    moves.push({ name: `${text}: the answer is late`, world: late, isFair: false });
    return moves;
  }

  #rules(member: number): PartitionRules {
    return { ...this.#protocol.rules, identity: IDENTITIES[member] ?? '' };
  }

  #wish(world: World, member: number, partition: number): Wish {
    const { partitions = [], hasSecondView } = world.members[member] ?? {};
    const owners = hasSecondView ? this.#bounds.second : this.#bounds.first;
    const states = partitions.map(({ state }) => state);
    return wishesOf(states, owners, IDENTITIES[member] ?? '')[partition] ?? 'leave';
  }

  #happen(world: World, member: number, partition: number, event: PartitionEvent): World {
    const nowMs = this.#nowMs(world.tick, member);
    const moment = { nowMs, random: 0, wish: this.#wish(world, member, partition) };
    const of = partitionOf(world, member, partition);
    const { state, effects } = this.#protocol.step(of.state, event, moment, this.#rules(member));
    let next: World = withPartition(world, member, partition, { ...of, state });
    for (const effect of effects) next = perform(next, member, partition, effect, nowMs);
    return next;
  }
}

function perform(
  world: World,
  member: number,
  partition: number,
  effect: PartitionEffect,
  nowMs: number,
): World {
  const of = partitionOf(world, member, partition);
  const set = (change: Partial<OfPartition>): World =>
    withPartition(world, member, partition, { ...of, ...change });
  const send = (write: Call['write']): World =>
    set({ calls: [...of.calls, { write, answer: undefined, isLate: false, isCancelled: false }] });
  switch (effect.type) {
    case 'get':
      return send(undefined);
    case 'create':
      return send({ draft: recordOf(effect.draft, nowMs), version: undefined });
    case 'update':
      return send({ draft: recordOf(effect.draft, nowMs), version: effect.stored.source });
    case 'cancel':
      // A write that has not arrived yet may arrive later; nothing else matters.
      return set({
        calls: of.calls
          .filter(({ write, answer }) => write && !answer)
          .map((call) => ({ ...call, isLate: true, isCancelled: true })),
      });
    case 'start-work':
      if (of.work !== 'none')
        return { ...world, broken: `two works on partition ${partition} in one member` };
      if (effect.epoch <= (world.epochs[partition] ?? -1))
        return { ...world, broken: `two works on partition ${partition} have epoch ${effect.epoch}` };
      return { ...set({ work: 'running' }), epochs: world.epochs.with(partition, effect.epoch) };
    case 'end-work':
      // An election also says so when the work has ended.
      return of.work === 'none' ? world : set({ work: effect.loss ? 'aborted' : 'ending' });
    default:
      return world;
  }
}

/** The Leases API: reads, and writes of the version that was read. */
function serve(
  world: World,
  partition: number,
  { write }: Call,
): { records: World['records']; answer: Answer } {
  const { records } = world;
  const stored = records[partition];
  if (!write) return { records, answer: { type: 'answered', stored } };
  if (write.version !== stored?.source)
    return { records, answer: { type: 'failed', error: 'conflict', isConflict: true } };
  const written = { record: write.draft, source: Number(stored?.source ?? 0) + 1 };
  return { records: records.with(partition, written), answer: { type: 'answered', stored: written } };
}

/** The answers are lost, and the requests arrive or not. */
function killed(of: OfPartition): OfPartition {
  const calls = of.calls.filter(({ answer }) => !answer);
  return { ...of, calls: calls.map((call) => ({ ...call, isLate: true, isCancelled: true })) };
}

function recordOf(draft: Omit<LeaderElectionRecord, 'renewTime'>, nowMs: number): LeaderElectionRecord {
  return { ...draft, acquireTime: draft.acquireTime || String(nowMs), renewTime: String(nowMs) };
}

function partitionOf(world: World, member: number, partition: number): OfPartition {
  const of = world.members[member]?.partitions[partition];
  if (!of) throw new Error(`no partition ${partition} of member ${member}`);
  return of;
}

function withPartition(world: World, member: number, partition: number, of: OfPartition): World {
  const before = world.members[member];
  return before
    ? withMember(world, member, { ...before, partitions: before.partitions.with(partition, of) })
    : world;
}

function withMember(world: World, index: number, member: Member): World {
  return { ...world, members: world.members.with(index, member) };
}

function traceTo(visits: ReadonlyMap<string, Visit>, last: string): string[] {
  const moves: string[] = [];
  let visit = visits.get(last);
  while (visit) {
    moves.unshift(visit.move);
    visit = visit.from === undefined ? undefined : visits.get(visit.from);
  }
  return moves;
}
