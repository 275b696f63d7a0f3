/**
 * A member of a group whose members share a fixed number of slots: one Lease a slot, and one heartbeat Lease a member.
 * Members agree on preferred owners without talking to each other; the leases alone decide who owns a slot.
 */
import { realClock } from '../../base/clock.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { KubeloomError } from '../../base/errors.ts';
import { onAbort } from '../../base/on-abort.ts';
import type { Observation } from '../leader-election/election-state.ts';
import { heldUntilMs, observationOf } from '../leader-election/election-step.ts';
import type { ResourceLock, StoredRecord } from '../leader-election/resource-lock.ts';
import { preferredOwners, wishesOf } from './ownership.ts';
import { SlotRunner } from './slot-runner.ts';
import type { WorkOnSlot } from './slot-runner.ts';
import type { SlotRules, SlotState, Wish } from './slot-state.ts';

const SLOTS = 16;

/** Parts of a member. Not final: see docs/decisions/0029-slots.md. */
export interface SlotGroupParts {
  /** Name of the group: leases are `GROUP-slot-07` and `GROUP-member-IDENTITY`. */
  readonly group: string;
  readonly rules: SlotRules;
  /** Number of slots, the same in every member, forever. Default 16. */
  readonly slotCount?: number;
  readonly lockOf: (leaseName: string) => ResourceLock;
  readonly work: WorkOnSlot;
  readonly onError: (error: KubeloomError) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A member of a group. Not final: an informer on the leases and checked options are missing. */
export class SlotGroup {
  readonly #parts: SlotGroupParts;
  readonly #clock: Clock;
  readonly #heartbeat: SlotRunner;
  readonly #slots: readonly SlotRunner[];
  readonly #slotNames: readonly string[];
  readonly #heartbeats = new Map<string, Observation>();
  readonly #outcome: Promise<void>;
  #resolve: () => void = () => undefined;
  #wishes: readonly Wish[] = [];
  #heartbeatWish: Wish = 'leave';
  #phase: 'new' | 'running' | 'leaving' | 'ended' = 'new';
  #isDecisionDue = false;
  #cancelTimer: () => void = () => undefined;

  constructor(parts: SlotGroupParts) {
    this.#parts = parts;
    const { group, rules, slotCount = SLOTS, lockOf, work, onError, random = Math.random } = parts;
    this.#clock = parts.clock ?? realClock;
    const common = { rules, clock: this.#clock, random, onError, onChanged: () => this.#decideSoon() };
    this.#slotNames = Array.from(
      { length: slotCount },
      (_, slot) => `${group}-slot-${String(slot).padStart(2, '0')}`,
    );
    this.#slots = this.#slotNames.map((name, slot) => {
      const wish = (): Wish => this.#wishes[slot] ?? 'leave';
      return new SlotRunner({ ...common, slot, lock: lockOf(name), wish, work });
    });
    this.#heartbeat = new SlotRunner({
      ...common,
      slot: slotCount,
      lock: lockOf(`${group}-member-${rules.identity}`),
      wish: () => this.#heartbeatWish,
      work: ({ drainSignal }) => new Promise((resolve) => onAbort(drainSignal, resolve)),
    });
    this.#outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** @internal States of the slots, by the clock of this moment. */
  get states(): readonly SlotState[] {
    return this.#slots.map(({ state }) => state);
  }

  /** @internal Preferred owners of the slots, as this member sees the group. */
  get owners(): readonly (string | undefined)[] {
    return preferredOwners(this.#slots.length, this.#liveMembers());
  }

  /**
   * Receives the newest record of a lease of the group; undefined when it is deleted. The first list must be received
   * before `run`: a member that does not see the others takes itself for the only one.
   */
  see(leaseName: string, stored: StoredRecord | undefined): void {
    const slot = this.#slotNames.indexOf(leaseName);
    if (slot >= 0) return this.#slots[slot]?.see(stored);
    const prefix = `${this.#parts.group}-member-`;
    if (!leaseName.startsWith(prefix)) return undefined;
    const identity = leaseName.slice(prefix.length);
    const observed = observationOf(this.#heartbeats.get(identity), stored, this.#clock.now());
    if (observed) this.#heartbeats.set(identity, observed);
    else this.#heartbeats.delete(identity);
    this.#decideSoon();
  }

  /**
   * Takes part in the group until the signal is aborted; then hands over all slots, and resolves when they are released.
   *
   * @throws ERR_KUBELOOM_STARTED
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#phase !== 'new') {
      const message = `the member ${this.#parts.rules.identity} of ${this.#parts.group} has been started: make another one`;
      throw new KubeloomError('ERR_KUBELOOM_STARTED', message);
    }
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
    for (const [slot, runner] of this.#slots.entries())
      if (this.#wishes[slot] !== before[slot]) runner.tick();
    const isDone = this.#phase === 'leaving' && this.states.every(({ kind }) => kind === 'free');
    // The heartbeat ends last: the other members expect this one to hand its slots over.
    const heartbeatWish = isDone ? 'leave' : 'own';
    if (heartbeatWish !== this.#heartbeatWish) {
      this.#heartbeatWish = heartbeatWish;
      this.#heartbeat.tick();
    }
    this.#cancelTimer();
    if (isDone && this.#heartbeat.state.kind === 'free') return this.#end();
    const nextMs = Math.min(...Array.from(this.#heartbeats.values(), (seen) => this.#aliveUntilMs(seen)));
    if (nextMs < Infinity)
      this.#cancelTimer = this.#clock.schedule(Math.ceil(nextMs - this.#clock.now()), () =>
        this.#decideSoon(),
      );
    return undefined;
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
    return untilMs > this.#clock.now() ? untilMs : Infinity;
  }
}
