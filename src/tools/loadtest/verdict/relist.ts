/**
 * Finds the state of the log that a list returned, from the notifications. Pure.
 *
 * A list is the state at a position of the log, in any order; the notifications are the difference between that state
 * and the state before. Both are sets of key and revision, and a set is compared by the sum of the members' hashes, so
 * a single pass over the log finds the position.
 */
import type { JournalEntry } from '../../apiserver/store/journal.ts';
import type { Notification } from '../watch/recording-handler.ts';

export interface LogEvent {
  readonly revision: number;
  readonly type: JournalEntry[1];
  readonly key: string;
  /** The revision of the object before this event; 0 when there was none. */
  readonly previousRevision: number;
}

export interface Relist {
  /** The number of events of the log before the list. */
  readonly position: number;
  /** The number of notifications that make up the difference. */
  readonly length: number;
}

/**
 * Returns the first list behind `from` whose difference to the model equals the next notifications.
 *
 * @param model key to revision before the relist
 */
export function relistAt(
  events: readonly Pick<LogEvent, 'revision' | 'type' | 'key'>[],
  from: number,
  model: ReadonlyMap<string, number>,
  notifications: readonly Notification[],
  index: number,
): Relist | undefined {
  const sums = sumsOf(notifications, index, model);
  const difference = new Difference(model);
  let unchanged: Relist | undefined;
  for (let position = from; position < events.length; position++) {
    const event = events[position];
    if (event) difference.apply(event.key, event.type === 'DELETED' ? 0 : event.revision);
    const length = difference.size;
    if (sums[length] !== difference.sum) continue;
    if (length > 0) return { position: position + 1, length };
    unchanged ??= { position: position + 1, length };
  }
  // A relist without a difference still explains the next notification, if that notification follows the list in the
  // log.
  const next = notifications[index];
  return unchanged && next && events[unchanged.position]?.revision === next.revision ? unchanged : undefined;
}

/**
 * Returns the revision of the initial list: the state of the log with exactly the listed objects. Among several, the
 * state that the first change follows. If there is no such state, the newest revision in the list.
 */
export function listedAtOf(journal: readonly JournalEntry[], history: readonly Notification[]): number {
  const initial = history.filter(({ kind }) => kind === 'INITIAL');
  const wanted = sumsOf(initial, 0, new Map()).at(-1) ?? 0;
  const first = history.find(({ kind }) => kind !== 'INITIAL');
  const difference = new Difference(new Map());
  let found = wanted === 0 && initial.length === 0 ? 0 : undefined;
  for (const [index, [revision, type, key]] of journal.entries()) {
    difference.apply(key, type === 'DELETED' ? 0 : revision);
    if (difference.size !== initial.length || difference.sum !== wanted) continue;
    const isFollowed = first !== undefined && journal[index + 1]?.[0] === first.revision;
    if (found === undefined || isFollowed) found = revision;
  }
  return found ?? initial.reduce((newest, { revision }) => Math.max(newest, revision), 0);
}

/** The keys whose revision differs from the model's. */
class Difference {
  readonly #model: ReadonlyMap<string, number>;
  readonly #changed = new Map<string, number>();
  size = 0;
  sum = 0;

  constructor(model: ReadonlyMap<string, number>) {
    this.#model = model;
  }

  /** @param revision 0: the object is gone */
  apply(key: string, revision: number): void {
    const base = this.#model.get(key) ?? 0;
    const before = this.#changed.get(key) ?? base;
    if (before !== base) {
      this.size--;
      this.sum = minus(this.sum, hashOf(key, before));
    }
    if (revision !== base) {
      this.size++;
      this.sum = plus(this.sum, hashOf(key, revision));
    }
    this.#changed.set(key, revision);
  }
}

/**
 * Returns the sums of the first 0, 1, 2, … notifications; ends before a notification that cannot belong to a relist.
 */
function sumsOf(
  notifications: readonly Notification[],
  from: number,
  model: ReadonlyMap<string, number>,
): readonly number[] {
  const sums = [0];
  const keys = new Set<string>();
  for (let index = from; index < notifications.length; index++) {
    const { kind, key, revision, previousRevision } = notifications[index] as Notification;
    const isUntold = kind !== 'MODIFIED' || Number.isNaN(previousRevision);
    const isFromModel = isUntold || model.get(key) === previousRevision;
    if (kind === 'DELETED' || keys.has(key) || !isFromModel) break;
    keys.add(key);
    sums.push(plus(sums.at(-1) ?? 0, hashOf(key, kind === 'FINAL_STATE_UNKNOWN' ? 0 : revision)));
  }
  return sums;
}

/** Sums stay exact below this, and keep 51 bits of every hash. */
const MODULUS = 2 ** 51;
const FNV_PRIME = 0x01000193;
const OTHER_PRIME = 0x85ebca6b;

function plus(sum: number, hash: number): number {
  return (sum + hash) % MODULUS;
}

function minus(sum: number, hash: number): number {
  return (sum - hash + MODULUS) % MODULUS;
}

function hashOf(key: string, revision: number): number {
  let one = Math.imul(revision | 0, 0x9e3779b1) ^ Math.floor(revision / 2 ** 32);
  let other = Math.imul(revision | 0, 0xc2b2ae35) + 1;
  for (let index = 0; index < key.length; index++) {
    one = Math.imul(one ^ key.charCodeAt(index), FNV_PRIME);
    other = Math.imul(other + key.charCodeAt(index), OTHER_PRIME);
    other ^= other >>> 13;
  }
  return (one >>> 0) * 2 ** 19 + (other >>> 13);
}
