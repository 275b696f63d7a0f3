/**
 * Every revision is accounted for (I4, I4b), in the server's order (I5), also for handlers that join late
 * (I7).
 *
 * A handler receives an initial list, and then the server's events one by one from its version. After a
 * relist it receives the difference to the listed state in one piece: deletions first, then the rest in the
 * order of the list. A missing revision that no relist covers is a violation, even when everything else looks
 * right.
 *
 *   handler [initial list @7] 8 9 10 [difference to 15] 16 17 …
 *   cursor                  7 8 9 10                 15 16 17
 */
import type { ChangeRecord } from '../histories.ts';
import { isUnchanged, nameOf } from '../run-view.ts';
import type { HandlerView } from '../run-view.ts';
import type { State, TruthEvent } from '../truth.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkAccount(handler: HandlerView): Violation[] {
  return new Account(handler).close();
}

interface Relist {
  /** In positions of the truth. */
  readonly to: number;
  readonly since: number;
}

class Account {
  readonly #handler: HandlerView;
  /** The notifications that are not repetitions. */
  readonly #changes: readonly ChangeRecord[];
  /** The handler's view up to the present notification: key → revision. */
  readonly #model = new Map<string, number>();
  /**
   * By number of explained changes: the possible positions in the truth. There are several where a relist
   * changed nothing.
   */
  readonly #cursors = new Map<number, Set<number>>();
  readonly #relists: readonly Relist[];

  constructor(handler: HandlerView) {
    const { truth, listed } = handler.informer;
    this.#handler = handler;
    this.#changes = handler.changes.filter((change) => !isUnchanged(change));
    this.#relists = listed.map(({ revision, since }) => ({
      to: truth.position(revision),
      since: truth.position(since),
    }));
  }

  close(): Violation[] {
    const begun = this.#begin();
    if (typeof begun !== 'number') return begun;
    for (let index = begun; index < this.#changes.length; index++) {
      const cursors = this.#cursors.get(index) ?? new Set();
      for (const cursor of cursors) this.#explain(index, cursor);
      this.#cursors.delete(index);
      this.#believe(this.#changes[index]);
      if (this.#cursors.size === 0) return [this.#unexplained(index, cursors)];
    }
    return this.#end();
  }

  /** Checks the initial list; returns its number of changes, or what is wrong. */
  #begin(): number | Violation[] {
    const { truth } = this.#handler.informer;
    let count = 0;
    while (this.#changes[count]?.isInInitialList === true) this.#believe(this.#changes[count++]);
    const joinedAt = this.#handler.registered.revision;
    const starts = new Set(
      this.#candidates().filter((position) => this.#isState(truth.state(position), count)),
    );
    this.#cursors.set(count, starts);
    const isWaiting = this.#changes.length === 0 && this.#handler.synced === Infinity;
    if (starts.size > 0 || isWaiting) return count;
    const what = `the ${count} objects of its initial list are no state that the server had`;
    const since = joinedAt > 0 ? ` when it joined at ${joinedAt}` : ' when it was listed';
    return [violation('I7', `${this.#handler.name}: ${what}${since}`, this.#changes[0]?.at)];
  }

  /** Positions that the initial list can have: of the cache for a late handler, else of a list. */
  #candidates(): number[] {
    const { truth } = this.#handler.informer;
    const joinedAt = this.#handler.registered.revision;
    if (joinedAt > 0) return [truth.position(joinedAt)];
    if (this.#relists.length > 0) return this.#relists.map(({ to }) => to);
    // Without a record of the list: the first state that has the newest object.
    return [truth.position(Math.max(0, ...this.#model.values()))];
  }

  #isState(state: State, count: number): boolean {
    const isCutOff = this.#handler.isRemoved && this.#changes.length === count;
    if (!isCutOff && state.size !== this.#model.size) return false;
    for (const [key, revision] of this.#model) if (state.get(key)?.revision !== revision) return false;
    return true;
  }

  #explain(index: number, cursor: number): void {
    const { truth } = this.#handler.informer;
    const change = this.#changes[index];
    const next = truth.events[cursor];
    if (change && next && isDeliveredAs(next, change)) {
      this.#reach(index + 1, cursor + 1);
      return;
    }
    for (const relist of this.#relistsFrom(cursor)) {
      const length = this.#differenceAt(index, truth.state(relist));
      // A relist that changed nothing: the following changes continue from it.
      if (length !== undefined) this.#reach(index + length, relist);
    }
  }

  #relistsFrom(cursor: number): number[] {
    return this.#relists.flatMap(({ to, since }) => (to > cursor && since <= cursor ? [to] : []));
  }

  #reach(index: number, cursor: number): void {
    const cursors = this.#cursors.get(index) ?? new Set();
    cursors.add(cursor);
    this.#cursors.set(index, cursors);
  }

  /**
   * Returns how many changes from `index` on are exactly the difference to this state; undefined when they are not.
   */
  #differenceAt(index: number, state: State): number | undefined {
    const deleted = new Set([...this.#model.keys()].filter((key) => !state.has(key)));
    const changed = [...state.values()].filter(({ key, revision }) => this.#model.get(key) !== revision);
    changed.sort((a, b) => (a.key < b.key ? -1 : 1));
    const length = deleted.size + changed.length;
    for (let done = 0; done < length; done++) {
      const change = this.#changes[index + done];
      // A removed handler's record is cut off: the difference may be partial.
      if (!change) return this.#handler.isRemoved ? done : undefined;
      if (change.kind === 'delete') {
        if (change.finalStateUnknown !== true || !deleted.delete(change.key)) return undefined;
        continue;
      }
      if (deleted.size > 0) return undefined;
      const event = changed.shift();
      if (!event || !this.#isFound(event, change)) return undefined;
    }
    return length;
  }

  #isFound(event: TruthEvent, change: ChangeRecord): boolean {
    const kind = this.#model.has(event.key) ? 'update' : 'add';
    return change.kind === kind && change.key === event.key && change.revision === event.revision;
  }

  #believe(change: ChangeRecord | undefined): void {
    if (!change) return;
    if (change.kind === 'delete') this.#model.delete(change.key);
    else this.#model.set(change.key, change.revision);
  }

  #end(): Violation[] {
    if (this.#handler.isRemoved) return [];
    const { truth } = this.#handler.informer;
    const end = truth.events.length;
    const cursors = this.#cursors.get(this.#changes.length) ?? new Set();
    for (const cursor of cursors) this.#explain(this.#changes.length, cursor);
    if (cursors.has(end)) return [];
    const cursor = Math.max(0, ...cursors);
    const missing = truth.events.slice(cursor).map(({ revision }) => revision);
    return [violation('I2', `${this.#handler.name} never received ${some(missing)}`)];
  }

  #unexplained(index: number, cursors: ReadonlySet<number>): Violation {
    const { events } = this.#handler.informer.truth;
    const change = this.#changes[index];
    const cursor = Math.max(...cursors);
    const next = events[cursor];
    const received = change ? nameOf(change) : 'nothing';
    const revision = change?.revision ?? 0;
    if (change?.finalStateUnknown === true) {
      const what = `${received} as if a relist had found it, but no relist explains what follows`;
      return violation('I4b', `${this.#handler.name} received ${what}`, change.at);
    }
    if (next === undefined || revision < next.revision) {
      const before = events[cursor - 1]?.revision ?? 0;
      return violation('I5', `${this.#handler.name} received ${received} after ${before}`, change?.at);
    }
    const missing = events
      .slice(cursor)
      .flatMap((event) => (event.revision < revision ? [event.revision] : []));
    if (missing.length === 0) {
      const expected = `${next.type} ${next.key}@${next.revision}`;
      return violation(
        'I4',
        `${this.#handler.name} received ${received} where ${expected} follows`,
        change?.at,
      );
    }
    const what = `${received} without ${some(missing)}, and no relist explains that`;
    return violation('I4b', `${this.#handler.name} received ${what}`, change?.at);
  }
}

function isDeliveredAs({ type, key, revision }: TruthEvent, change: ChangeRecord): boolean {
  if (change.key !== key || change.revision !== revision || change.finalStateUnknown === true) return false;
  if (type === 'DELETED') return change.kind === 'delete';
  return change.kind === (type === 'ADDED' ? 'add' : 'update');
}

const SHOWN_MAX = 5;

function some(revisions: readonly number[]): string {
  const shown = revisions.slice(0, SHOWN_MAX).join(', ');
  return revisions.length > SHOWN_MAX ? `${shown} and ${revisions.length - SHOWN_MAX} more` : shown;
}
