/**
 * Mark and sweep of one informer in one shard: which ids a relist has shown, and which of them the main
 * thread knows.
 *
 * The main thread keeps two states while a relist runs: the live replica, and a shadow that takes its place
 * at ReplaceEnd or is thrown away by ReplaceAbort or a newer ReplaceBegin. So an id has two bits here:
 *
 * | bit | meaning |
 * |---|---|
 * | LIVE | the live replica has this id |
 * | LISTED | the shadow has this id: the open epoch has shown it |
 *
 * | record | without an epoch | inside an epoch |
 * |---|---|---|
 * | Added, Modified, Replaced | LIVE | LISTED |
 * | Deleted | id freed | not LISTED; freed unless LIVE: the live replica still has it |
 * | ReplaceEnd | – | LISTED becomes LIVE; LIVE alone is Swept and freed |
 * | ReplaceAbort, newer ReplaceBegin | – | LISTED alone is freed without a word; the rest stays LIVE |
 *
 * Two rules follow. An id is never freed, and so never reused, while a state of the main thread has an object
 * under it. And an id whose key was first seen in an abandoned epoch is freed silently: the only state that
 * had it, the shadow, is gone.
 *
 * A pass over the ids (after End, Abort, Begin) can be interrupted after any id: a million of them must not
 * hold up the thread, nor must a full ring.
 */
import { assert } from '../errors.ts';

const LIVE = 1;
const LISTED = 2;

/** `next` has nothing more to tell. */
export const PASS_DONE = -1;
/** `next` has looked at as many ids as it was allowed to: call it again. */
export const PASS_PAUSED = -2;

const STATES_MIN = 64;

type Phase =
  | { readonly phase: 'steady' }
  | { readonly phase: 'listing'; readonly epoch: number }
  /** After ReplaceEnd: telling which ids are gone. */
  | { readonly phase: 'sweeping' }
  /** After ReplaceAbort, or before the newer epoch that aborted an older one: undoing its marks. */
  | { readonly phase: 'undoing'; readonly newerEpoch: number | undefined };

type Event =
  | { readonly type: 'begin'; readonly epoch: number }
  | { readonly type: 'end'; readonly epoch: number }
  | { readonly type: 'abort'; readonly epoch: number }
  | { readonly type: 'passed' };

const STEADY: Phase = { phase: 'steady' };

/** End and Abort without an open epoch change nothing: a new reflector may abort what it does not know of. */
function step(state: Phase, event: Event): Phase {
  switch (state.phase) {
    case 'steady':
      return event.type === 'begin' ? { phase: 'listing', epoch: event.epoch } : state;
    case 'listing':
      if (event.type === 'begin') return { phase: 'undoing', newerEpoch: event.epoch };
      if (event.type === 'passed') return state;
      assert(event.epoch === state.epoch, `${event.type} of epoch ${event.epoch} in epoch ${state.epoch}`);
      return event.type === 'end' ? { phase: 'sweeping' } : { phase: 'undoing', newerEpoch: undefined };
    case 'sweeping':
      assert(event.type === 'passed', `${event.type} during a sweep`);
      return STEADY;
    case 'undoing':
      assert(event.type === 'passed', `${event.type} while an epoch is undone`);
      break;
  }
  return state.newerEpoch === undefined ? STEADY : { phase: 'listing', epoch: state.newerEpoch };
}

export class RelistMarks {
  #phase: Phase = STEADY;
  /** Bits by id; 0 is an id that is free. */
  #bits: Uint8Array = new Uint8Array(STATES_MIN);
  #idEnd = 0;
  /** Where the pass goes on. */
  #nextId = 0;
  readonly #free: (id: number) => void;

  /** @param free gives an id back; called from `next` only */
  constructor(free: (id: number) => void) {
    this.#free = free;
  }

  /** As the main thread has it, for a shard that takes the place of one that ended: in any order. */
  restore(id: number, isLive: boolean, isListed: boolean): void {
    if (id >= this.#idEnd) this.#reach(id);
    this.#bits[id] = (isLive ? LIVE : 0) | (isListed ? LISTED : 0);
  }

  /** The epoch that was open there. */
  restoreEpoch(epoch: number): void {
    this.#phase = { phase: 'listing', epoch };
  }

  /** A relist is under way. */
  get isListing(): boolean {
    return this.#phase.phase === 'listing';
  }

  /** The object with this id is there. */
  mark(id: number): void {
    if (id >= this.#idEnd) this.#reach(id);
    const bits = this.#bits[id] ?? 0;
    this.#bits[id] = this.#phase.phase === 'listing' ? bits | LISTED : LIVE;
  }

  /** The object with this id was deleted. True when the id is free from now on: the caller gives it back. */
  unmark(id: number): boolean {
    if (id >= this.#idEnd) this.#reach(id);
    const bits = this.#phase.phase === 'listing' ? (this.#bits[id] ?? 0) & LIVE : 0;
    this.#bits[id] = bits;
    return bits === 0;
  }

  /** The record before which `next` must be called until PASS_DONE. */
  begin(epoch: number): void {
    this.#enter({ type: 'begin', epoch });
  }

  end(epoch: number): void {
    this.#enter({ type: 'end', epoch });
  }

  abort(epoch: number): void {
    this.#enter({ type: 'abort', epoch });
  }

  /** Goes on with the pass: the next id that was swept, PASS_PAUSED after `idsMax` ids, or PASS_DONE. */
  next(idsMax: number): number {
    const { phase } = this.#phase;
    if (phase === 'steady' || phase === 'listing') return PASS_DONE;
    const pauseAt = Math.min(this.#idEnd, this.#nextId + idsMax);
    while (this.#nextId < pauseAt) {
      const id = this.#nextId++;
      const bits = this.#bits[id] ?? 0;
      if (phase === 'sweeping') {
        this.#bits[id] = bits & LISTED ? LIVE : 0;
        if (bits !== LIVE) continue;
        this.#free(id);
        return id;
      }
      this.#bits[id] = bits & LIVE;
      if (bits === LISTED) this.#free(id);
    }
    if (this.#nextId < this.#idEnd) return PASS_PAUSED;
    this.#enter({ type: 'passed' });
    return PASS_DONE;
  }

  #enter(event: Event): void {
    this.#phase = step(this.#phase, event);
    this.#nextId = 0;
  }

  #reach(id: number): void {
    this.#idEnd = id + 1;
    if (id < this.#bits.length) return;
    const bits = new Uint8Array(Math.max(this.#bits.length * 2, id + 1));
    bits.set(this.#bits);
    this.#bits = bits;
  }
}
