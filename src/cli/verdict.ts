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
  readonly #seen: Uint8Array;
  readonly #initialSeen = new Set<string>();
  readonly #findings: string[] = [];
  #delivered = 0;
  #duplicated = 0;
  #reordered = 0;
  /** Index of the latest event so far; -1 while only the initial list was seen. */
  #latest = -1;

  constructor(expectation: Expectation) {
    this.#expectation = expectation;
    this.#indexes = new Map(expectation.events.map(({ revision }, index) => [revision, index]));
    this.#seen = new Uint8Array(expectation.events.length);
  }

  take(notification: Notification): void {
    if (notification.kind === 'INITIAL') this.#takeInitial(notification);
    else this.#takeEvent(notification);
  }

  close(): Verdict {
    const { initial, events } = this.#expectation;
    let lost = 0;
    for (const [key, revision] of initial) {
      if (this.#initialSeen.has(key)) continue;
      lost++;
      this.#find(`lost: ${key}@${revision} of the initial list`);
    }
    for (const [index, event] of events.entries()) {
      if (this.#seen[index] === 1) continue;
      lost++;
      this.#find(`lost: ${event.type} ${event.key}@${event.revision}`);
    }
    return {
      delivered: this.#delivered,
      initial: this.#initialSeen.size,
      lost,
      duplicated: this.#duplicated,
      reordered: this.#reordered,
      findings: this.#findings,
    };
  }

  #takeInitial(notification: Notification): void {
    const { key, revision } = notification;
    if (this.#expectation.initial.get(key) !== revision) {
      this.#excess('not in the log', notification);
      return;
    }
    if (this.#initialSeen.has(key)) {
      this.#excess('delivered twice', notification);
      return;
    }
    this.#initialSeen.add(key);
    if (this.#latest >= 0) this.#late(notification);
  }

  #takeEvent(notification: Notification): void {
    const index = this.#indexes.get(notification.revision);
    const event = index === undefined ? undefined : this.#expectation.events[index];
    if (index === undefined || event === undefined || !isSame(event, notification)) {
      this.#excess('not in the log', notification);
      return;
    }
    if (this.#seen[index] === 1) {
      this.#excess('delivered twice', notification);
      return;
    }
    this.#seen[index] = 1;
    this.#delivered++;
    if (index < this.#latest) this.#late(notification);
    else this.#latest = index;
  }

  #excess(how: string, notification: Notification): void {
    this.#duplicated++;
    this.#find(`${how}: ${describe(notification)}`);
  }

  #late(notification: Notification): void {
    this.#reordered++;
    this.#find(`out of order: ${describe(notification)}`);
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
