/**
 * Compares the server's log with the notifications of one handler. Pure, without assumptions: every notification is
 * looked up in the log, and every log event in the notifications.
 *
 * The initial list must hold each object of the log's state at the listed revision once, before any change;
 * its order is the server's and is not in the log. From there on each event must come once, in log order,
 * with the log's key and type, and an update with the revision that the object had before.
 */
import type { JournalEntry } from '../apiserver/journal.ts';
import type { Notification } from './recording-handler.ts';

export interface Verdict {
  /** Events after the initial list that were delivered as the log has them. */
  readonly delivered: number;
  /** Objects of the initial list that were delivered as the log has them. */
  readonly initial: number;
  /** Log events, or objects of the initial list, that no notification matches. */
  readonly lost: number;
  /** Notifications without a remaining log event: repeated, or never in the log. */
  readonly duplicated: number;
  /** Notifications that came after a newer one. */
  readonly reordered: number;
  /** The first few faults as text. */
  readonly findings: readonly string[];
}

interface LogEvent {
  readonly revision: number;
  readonly type: JournalEntry[1];
  readonly key: string;
  /** The revision of the object before this event; 0 when there was none. */
  readonly previousRevision: number;
}

/** The notifications that the log requires. */
export interface Expectation {
  /** Key to revision, at the revision of the list. */
  readonly initial: ReadonlyMap<string, number>;
  readonly events: readonly LogEvent[];
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
  return { initial, events };
}

export function judge(expectation: Expectation, history: Iterable<Notification>): Verdict {
  const judgement = new Judgement(expectation);
  for (const notification of history) judgement.take(notification);
  return judgement.close();
}

class Judgement {
  readonly #expectation: Expectation;
  readonly #indexes: Map<number, number>;
  /** Keys of the initial list, and indexes of events. */
  readonly #seen = new Set<string | number>();
  readonly #findings: string[] = [];
  #delivered = 0;
  #duplicated = 0;
  #reordered = 0;
  /** Index of the latest event so far; -1 while only the initial list was seen. */
  #latest = -1;

  constructor(expectation: Expectation) {
    this.#expectation = expectation;
    this.#indexes = new Map(expectation.events.map(({ revision }, index) => [revision, index]));
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
    const isEvent = typeof place === 'number';
    if (isEvent) this.#delivered++;
    if (isEvent ? place < this.#latest : this.#latest >= 0) {
      this.#reordered++;
      this.#find(`out of order: ${describe(notification)}`);
    } else if (isEvent) {
      this.#latest = place;
    }
  }

  close(): Verdict {
    const { initial, events } = this.#expectation;
    for (const [key, revision] of initial) {
      if (!this.#seen.has(key)) this.#find(`lost: ${key}@${revision} of the initial list`);
    }
    for (const [index, { type, key, revision }] of events.entries()) {
      if (!this.#seen.has(index)) this.#find(`lost: ${type} ${key}@${revision}`);
    }
    return {
      delivered: this.#delivered,
      initial: this.#seen.size - this.#delivered,
      lost: initial.size + events.length - this.#seen.size,
      duplicated: this.#duplicated,
      reordered: this.#reordered,
      findings: this.#findings,
    };
  }

  /** Returns the key of an object of the initial list, or the index of an event; undefined when the log has neither. */
  #placeOf(notification: Notification): string | number | undefined {
    const { kind, key, revision } = notification;
    const { initial, events } = this.#expectation;
    if (kind === 'INITIAL') return initial.get(key) === revision ? key : undefined;
    const index = this.#indexes.get(revision) ?? -1;
    const event = events[index];
    return event && isSame(event, notification) ? index : undefined;
  }

  #find(finding: string): void {
    if (this.#findings.length < FINDINGS_MAX) this.#findings.push(finding);
  }
}

function isSame(event: LogEvent, notification: Notification): boolean {
  if (event.key !== notification.key || event.type !== notification.kind) return false;
  return event.type !== 'MODIFIED' || event.previousRevision === notification.previousRevision;
}

function describe({ kind, key, revision, previousRevision }: Notification): string {
  const from = kind === 'MODIFIED' ? ` (from ${previousRevision})` : '';
  return `${kind} ${key}@${revision}${from}`;
}
