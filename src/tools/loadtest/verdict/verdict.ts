/**
 * Compares the server's log with the notifications of a handler. Pure, without assumptions: every notification is
 * looked up in the log, and every log event in the notifications.
 *
 * The initial list must hold each object of the log's state at the listed revision once, before any change; the server
 * chooses the order of the list. After it each event must arrive once, in log order, with the log's key and type, and
 * an update with the object's previous revision. A relist may combine changes: then the notifications are the
 * difference to a later state of the log.
 */
import type { JournalEntry } from '../../apiserver/store/journal.ts';
import type { Notification } from '../watch/recording-handler.ts';
import { relistAt } from './relist.ts';
import type { LogEvent } from './relist.ts';

export interface Verdict {
  /** Events after the initial list that were delivered as logged. */
  readonly delivered: number;
  /** Objects of the initial list that were delivered as logged. */
  readonly initial: number;
  /** Log events that a relist combined with later events. */
  readonly covered: number;
  /** Log events, or objects of the initial list, that no notification matches. */
  readonly lost: number;
  /** Notifications without a remaining log event: repeated, or never in the log. */
  readonly duplicated: number;
  /** Notifications that arrived after a newer notification. */
  readonly reordered: number;
  /** The first few faults as text. */
  readonly findings: readonly string[];
  /** Revisions of the list and of the last event that the watcher saw; until infinity unless the watcher was ended. */
  readonly seen: { readonly from: number; readonly until: number };
}

/** The notifications that the log requires. */
export interface Expectation {
  /** Key to revision, at the revision of the list. */
  readonly initial: ReadonlyMap<string, number>;
  readonly events: readonly LogEvent[];
  readonly listedAt: number;
}

const FINDINGS_MAX = 5;

/** @param listedAt the server's revision at which the informer listed */
export function expectationOf(journal: Iterable<JournalEntry>, listedAt: number): Expectation {
  const initial = new Map<string, number>();
  const current = new Map<string, number>();
  const events: LogEvent[] = [];
  for (const [revision, type, key] of journal) {
    const state = revision <= listedAt ? initial : current;
    if (state === current) {
      const previousRevision = current.get(key) ?? initial.get(key) ?? 0;
      events.push({ revision, type, key, previousRevision });
    }
    if (type !== 'DELETED') state.set(key, revision);
    else if (state === initial) initial.delete(key);
    else current.set(key, 0);
  }
  return { initial, events, listedAt };
}

export interface Circumstances {
  /** The number of notifications before the first relist. Default: there was no relist. */
  readonly relistedAfter?: number | undefined;
  /** True if the watcher was ended, so that the rest of the log is not expected. */
  readonly isCutOff?: boolean;
}

export function judge(
  expectation: Expectation,
  history: Iterable<Notification>,
  { relistedAfter = Number.POSITIVE_INFINITY, isCutOff = false }: Circumstances = {},
): Verdict {
  const judgement = new Judgement(expectation);
  // A relist repeats unchanged objects, as client-go's does.
  const notifications = [...history].filter(
    ({ kind, revision, previousRevision }, index) =>
      index < relistedAfter || kind !== 'MODIFIED' || revision !== previousRevision,
  );
  for (let index = 0; index < notifications.length;) {
    const combined = index < relistedAfter ? 0 : judgement.takeRelist(notifications, index);
    const next = notifications[index];
    if (combined === 0 && next) judgement.take(next);
    index += Math.max(1, combined);
  }
  return judgement.close(isCutOff);
}

class Judgement {
  readonly #expectation: Expectation;
  readonly #indexes: Map<number, number>;
  /** Keys of the initial list, and indexes of events. */
  readonly #seen = new Set<string | number>();
  readonly #findings: string[] = [];
  /** Key to revision, as the notifications so far have it. */
  readonly #model = new Map<string, number>();
  #delivered = 0;
  #covered = 0;
  #duplicated = 0;
  #reordered = 0;
  /** Index of the latest event so far; -1 while only the initial list was seen. */
  #latest = -1;

  constructor(expectation: Expectation) {
    this.#expectation = expectation;
    this.#indexes = new Map(expectation.events.map(({ revision }, index) => [revision, index]));
  }

  /**
   * Returns the number of notifications from the index on that a relist explains; 0: the next event needs no relist.
   */
  takeRelist(notifications: readonly Notification[], index: number): number {
    const next = notifications[index];
    if (!next || next.kind === 'INITIAL' || this.#placeOf(next) === this.#latest + 1) return 0;
    const { events } = this.#expectation;
    const found = relistAt(events, this.#latest + 1, this.#model, notifications, index);
    if (found === undefined) return 0;
    for (let place = this.#latest + 1; place < found.position; place++) {
      if (this.#seen.has(place)) continue;
      this.#seen.add(place);
      this.#covered++;
    }
    const combined = notifications.slice(index, index + found.length);
    for (const notification of combined) this.#believe(notification);
    // A deletion that a relist found carries no revision: it stays among the covered events.
    const changes = combined.filter(({ kind }) => kind !== 'FINAL_STATE_UNKNOWN').length;
    this.#delivered += changes;
    this.#covered -= changes;
    this.#latest = found.position - 1;
    return found.length;
  }

  take(notification: Notification): void {
    const place = this.#placeOf(notification);
    if (place === undefined || this.#seen.has(place)) {
      this.#duplicated++;
      const how = place === undefined ? 'not in the log' : 'delivered twice';
      this.#find(`${how}: ${describe(notification)}`);
      return;
    }
    this.#seen.add(place);
    this.#believe(notification);
    const isEvent = typeof place === 'number';
    if (isEvent) this.#delivered++;
    if (isEvent ? place < this.#latest : this.#latest >= 0) {
      this.#reordered++;
      this.#find(`out of order: ${describe(notification)}`);
    } else if (isEvent) {
      this.#latest = place;
    }
  }

  close(isCutOff: boolean): Verdict {
    const { initial, events, listedAt } = this.#expectation;
    const expected = isCutOff ? this.#latest + 1 : events.length;
    let lost = 0;
    for (const [key, revision] of initial) {
      if (this.#seen.has(key)) continue;
      lost++;
      this.#find(`lost: ${key}@${revision} of the initial list`);
    }
    for (const [index, { type, key, revision }] of events.slice(0, expected).entries()) {
      if (this.#seen.has(index)) continue;
      lost++;
      this.#find(`lost: ${type} ${key}@${revision}`);
    }
    const seen = this.#seen.size - this.#delivered - this.#covered;
    return {
      delivered: this.#delivered,
      initial: seen,
      covered: this.#covered,
      lost,
      duplicated: this.#duplicated,
      reordered: this.#reordered,
      findings: this.#findings,
      seen: {
        from: listedAt,
        until: isCutOff ? (events[this.#latest]?.revision ?? listedAt) : Number.POSITIVE_INFINITY,
      },
    };
  }

  #believe({ kind, key, revision }: Notification): void {
    if (kind === 'DELETED' || kind === 'FINAL_STATE_UNKNOWN') this.#model.delete(key);
    else this.#model.set(key, revision);
  }

  /**
   * Returns the key of an object of the initial list, or the index of an event; undefined if the log contains neither.
   */
  #placeOf(notification: Notification): string | number | undefined {
    const { kind, key, revision } = notification;
    const { initial, events } = this.#expectation;
    if (kind === 'INITIAL') return initial.get(key) === revision ? key : undefined;
    const index = this.#indexes.get(revision) ?? -1;
    const event = events[index];
    return event && this.#isSame(event, notification) ? index : undefined;
  }

  /** The object before an update is the log's; after a loss, the last object that the handler received. */
  #isSame(event: LogEvent, { key, kind, previousRevision }: Notification): boolean {
    if (event.key !== key || event.type !== kind) return false;
    // Some clients do not report the object before.
    if (event.type !== 'MODIFIED' || Number.isNaN(previousRevision)) return true;
    return previousRevision === event.previousRevision || previousRevision === this.#model.get(key);
  }

  #find(finding: string): void {
    if (this.#findings.length < FINDINGS_MAX) this.#findings.push(finding);
  }
}

function describe({ kind, key, revision, previousRevision }: Notification): string {
  const from = kind === 'MODIFIED' && !Number.isNaN(previousRevision) ? ` (from ${previousRevision})` : '';
  return `${kind} ${key}@${revision}${from}`;
}
