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

export function newRepetition({ count, message, lastTimestamp }: CountedEvent): object {
  return { note: message, series: { count, lastObservedTime: microTime(lastTimestamp) } };
}

/** The server requires an instance and an action. */
export function newEvent(event: CountedEvent, { component, host }: EventSource, action: string): object {
  const { subject: regarding, type, reason, message: note, count, firstTimestamp, lastTimestamp } = event;
  return {
    regarding,
    type,
    reason,
    action,
    note,
    eventTime: microTime(firstTimestamp),
    reportingController: component,
    reportingInstance: host ?? hostname(),
    ...(count > 1 ? { series: { count, lastObservedTime: microTime(lastTimestamp) } } : {}),
  };
}

/** Returns a time of the core API, in seconds, with the microseconds that the other API requires. */
function microTime(timestamp: string): string {
  return timestamp.replace(/Z$/, '.000000Z');
}
