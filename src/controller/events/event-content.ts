/** The members of an event in both APIs: `v1` counts, `events.k8s.io/v1` uses a series. */
import { hostname } from 'node:os';
import type { CountedEvent } from './correlation.ts';

/** The program that records. */
export interface EventSource {
  readonly component: string;
  readonly host: string | undefined;
}

export function coreRepetition({ count, message, lastTimestamp }: CountedEvent): object {
  return { count, message, lastTimestamp };
}

export function coreEvent(event: CountedEvent, { component, host }: EventSource): object {
  const { subject: involvedObject, type, reason, message, count, firstTimestamp, lastTimestamp } = event;
  return {
    involvedObject,
    type,
    reason,
    message,
    count,
    firstTimestamp,
    lastTimestamp,
    source: { component, ...(host === undefined ? {} : { host }) },
    reportingComponent: component,
    reportingInstance: host ?? '',
  };
}

/** Limits of the API `events.k8s.io/v1`, in bytes. */
const NOTE_BYTES_MAX = 1024;
const WORD_BYTES_MAX = 128;

/** The server refuses a change of the note. */
export function newRepetition({ count, lastTimestamp }: CountedEvent): object {
  return { series: { count, lastObservedTime: microTime(lastTimestamp) } };
}

/** The server requires an instance and an action. */
export function newEvent(event: CountedEvent, { component, host }: EventSource, action: string): object {
  const { subject: regarding, type, reason, message, count, firstTimestamp, lastTimestamp } = event;
  return {
    regarding,
    type,
    reason: cut(reason, WORD_BYTES_MAX),
    action: cut(action, WORD_BYTES_MAX),
    note: cut(message, NOTE_BYTES_MAX),
    eventTime: microTime(firstTimestamp),
    reportingController: component,
    reportingInstance: cut(host ?? hostname(), WORD_BYTES_MAX),
    ...(count > 1 ? { series: { count, lastObservedTime: microTime(lastTimestamp) } } : {}),
  };
}

/** Returns the beginning of the text that has at most this many bytes in UTF-8, cut between two characters. */
function cut(text: string, bytesMax: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}

/** Returns a time of the core API, in seconds, with the microseconds that the other API requires. */
function microTime(timestamp: string): string {
  return timestamp.replace(/Z$/, '.000000Z');
}
