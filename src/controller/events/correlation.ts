/**
 * client-go's correlation of events, so that a controller that repeats itself does not flood the server: equal events
 * are counted in a single object, similar events are combined after the tenth message within 10 minutes, and each
 * object has a bucket of 25 events that gains an event every 5 minutes.
 */
import { randomUUID } from 'node:crypto';
import { RecentMap } from '../../base/recent-map.ts';
import { timestamp } from '../objects/conditions.ts';

/** `v1.ObjectReference` of the object that the event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface Occurrence {
  readonly subject: EventSubject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** An event to write. If the count is above 1, an object of this name was written before. */
export interface CountedEvent extends Occurrence {
  readonly name: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

/** Time of an occurrence. */
export interface EventTime {
  /** Milliseconds of a monotonic clock. */
  readonly atMs: number;
  readonly wall: Date;
}

const ENTRIES_MAX = 4096;
/** Number of different messages from which on events are combined. */
const SIMILAR_MAX = 10;
const SIMILAR_MS = 600_000;
const BURST = 25;
const REFILL_MS = 300_000;
const COMBINED = '(combined from similar events): ';
const NAME_CHARACTERS_MAX = 253;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

type Logged = Pick<CountedEvent, 'name' | 'count' | 'firstTimestamp'>;

export class EventCorrelation {
  readonly #similar: RecentMap<Similar> = new RecentMap(ENTRIES_MAX);
  readonly #logged: RecentMap<Logged> = new RecentMap(ENTRIES_MAX);
  /** Times at which the buckets are full again. */
  readonly #fullAtMs: RecentMap<number> = new RecentMap(ENTRIES_MAX);
  #names = 0;

  /** Returns the event to write; undefined when the object's bucket is empty. */
  correlate(occurrence: Occurrence, { atMs, wall }: EventTime): CountedEvent | undefined {
    const { subject, type, reason } = occurrence;
    const about = [subject.apiVersion, subject.kind, subject.namespace, subject.name, subject.uid];
    const group = JSON.stringify([...about, type, reason]);
    const isCombined = this.#isCombined(group, occurrence.message, atMs);
    const message = isCombined ? `${COMBINED}${occurrence.message}` : occurrence.message;
    const lastTimestamp = timestamp(wall);
    const key = isCombined ? group : `${group}${message}`;
    const before = this.#logged.get(key);
    const logged = before
      ? { ...before, count: before.count + 1 }
      : { name: this.#nameFor(subject, wall), count: 1, firstTimestamp: lastTimestamp };
    this.#logged.set(key, logged);
    if (!this.#take(JSON.stringify(about), atMs)) return undefined;
    return { ...occurrence, message, ...logged, lastTimestamp };
  }

  #isCombined(group: string, message: string, atMs: number): boolean {
    const last = this.#similar.get(group);
    const isRecent = last !== undefined && atMs - last.lastMs <= SIMILAR_MS;
    const similar = isRecent ? last : { messages: new Set<string>(), lastMs: atMs };
    similar.messages.add(message);
    similar.lastMs = atMs;
    this.#similar.set(group, similar);
    if (similar.messages.size < SIMILAR_MAX) return false;
    const [oldest = ''] = similar.messages;
    similar.messages.delete(oldest);
    return true;
  }

  #take(about: string, atMs: number): boolean {
    const fullAtMs = Math.max(this.#fullAtMs.get(about) ?? atMs, atMs);
    const isEmpty = fullAtMs - atMs > (BURST - 1) * REFILL_MS;
    this.#fullAtMs.set(about, isEmpty ? fullAtMs : fullAtMs + REFILL_MS);
    return !isEmpty;
  }

  #nameFor({ name }: EventSubject, wall: Date): string {
    const unique = BigInt(wall.getTime()) * 1_000_000n + BigInt(this.#names++ % 1_000_000);
    const given = `${name}.${unique.toString(16)}`;
    return isSubdomain(given) ? given : randomUUID();
  }
}

/**
 * Some names of objects cannot be part of an event's name: `system:node`, or a name that is too long with the time
 * appended.
 */
function isSubdomain(name: string): boolean {
  return name.length <= NAME_CHARACTERS_MAX && SUBDOMAIN.test(name);
}
