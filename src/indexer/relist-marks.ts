/**
 * Mark and sweep of one informer in one shard: which ids a relist has listed, and which of them the main thread has.
 *
 * The main thread keeps two states during a relist: the live replica, and a shadow. ReplaceEnd replaces the replica by
 * the shadow; ReplaceAbort or a newer ReplaceBegin drops the shadow. So an id has two bits here:
 *
 * | bit | meaning |
 * |---|---|
 * | LIVE | the live replica has this id |
 * | LISTED | the shadow has this id: the open epoch has listed it |
 *
 * | record | without an epoch | inside an epoch |
 * |---|---|---|
 * | Added, Modified, Replaced | LIVE | LISTED |
 * | Deleted | id freed | not LISTED; freed unless LIVE: the live replica still has it |
 * | ReplaceEnd | – | LISTED becomes LIVE; LIVE alone is Swept and freed |
 * | ReplaceAbort, newer ReplaceBegin | – | LISTED alone is freed without a record; the rest stays LIVE |
 *
 * Two rules follow. An id is not freed, and so not reused, while a state of the main thread has an object under it. An
 * id whose key first occurred in an aborted epoch is freed without a record: only the shadow had it, and it is gone.
 *
 * A pass over the ids (after End, Abort, Begin) can be interrupted after any id: neither a million ids nor a full ring
 * may hold up the thread.
 */
import { assert } from '../base/errors.ts';

const LIVE = 1;
const LISTED = 2;

/** Returned by `next` when the pass is done. */
export const PASS_DONE = -1;
/** Returned by `next` after `idsMax` ids: call it again. */
export const PASS_PAUSED = -2;

const STATES_MIN = 64;

type Phase =
  | { readonly phase: 'steady' }
  | { readonly phase: 'listing'; readonly epoch: number }
  /** After ReplaceEnd: sweeps the ids that were not listed. */
  | { readonly phase: 'sweeping' }
  /** After ReplaceAbort, or before a newer epoch that aborts an older one: undoes its marks. */
  | { readonly phase: 'undoing'; readonly newerEpoch: number | undefined };

type Event =
  | { readonly type: 'begin' | 'end' | 'abort'; readonly epoch: number }
  | { readonly type: 'passed' };

const STEADY: Phase = { phase: 'steady' };

/**
 * Returns the next phase. End and Abort without an open epoch change nothing: a new reflector may abort unknown epochs.
 */
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
  /** Bits by id; 0 is a free id. */
  #bits: Uint8Array = new Uint8Array(STATES_MIN);
  #idEnd = 0;
  /** Next id of the pass. */
  #nextId = 0;
  readonly #free: (id: number) => void;

  /** @param free frees an id; called from `next` only */
  constructor(free: (id: number) => void) {
    this.#free = free;
  }

  /** Restores the main thread's state of an id, in the successor of a shard. Ids may come in any order. */
  restore(id: number, isLive: boolean, isListed: boolean): void {
    if (id >= this.#idEnd) this.#reach(id);
    this.#bits[id] = (isLive ? LIVE : 0) | (isListed ? LISTED : 0);
  }

  get isListing(): boolean {
    return this.#phase.phase === 'listing';
  }

  mark(id: number): void {
    if (id >= this.#idEnd) this.#reach(id);
    const bits = this.#bits[id] ?? 0;
    this.#bits[id] = this.#phase.phase === 'listing' ? bits | LISTED : LIVE;
  }

  /** Unmarks the id of a deleted object; returns true when the caller must free the id. */
  unmark(id: number): boolean {
    if (id >= this.#idEnd) this.#reach(id);
    const bits = this.#phase.phase === 'listing' ? (this.#bits[id] ?? 0) & LIVE : 0;
    this.#bits[id] = bits;
    return bits === 0;
  }

  /** Begins an epoch. After it, call `next` until PASS_DONE. */
  begin(epoch: number): void {
    this.#enter({ type: 'begin', epoch });
  }

  end(epoch: number): void {
    this.#enter({ type: 'end', epoch });
  }

  abort(epoch: number): void {
    this.#enter({ type: 'abort', epoch });
  }

  /** Continues the pass; returns the next swept id, PASS_PAUSED after `idsMax` ids, or PASS_DONE. */
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
