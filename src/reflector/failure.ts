/**
 * Sorts what went wrong into the kinds that `step` tells apart, and words the errors that arise in the
 * reflector itself.
 */
import { KubeloomError } from '../errors.ts';
import { statusError } from '../transport/status.ts';
import type { KubeStatusError } from '../transport/status.ts';
import type { Failure, FailureKind } from './state.ts';

type Verb = 'list' | 'watch';

/** By the code of a server's answer; everything else is `other`. */
const KINDS: Readonly<Record<string, FailureKind>> = {
  ERR_KUBELOOM_GONE: 'expired',
  ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE: 'too-large',
  ERR_KUBELOOM_TOO_MANY_REQUESTS: 'too-many-requests',
};

/** A response other than 200. */
export function answeredWith(
  verb: Verb,
  status: number,
  body: string,
  retryAfterSeconds: number | undefined,
  where: string,
): Failure {
  return fromStatus(verb, statusError(status, body, retryAfterSeconds, where));
}

/** @param status the object of an ERROR event */
export function errorEvent(status: string, where: string): Failure {
  return fromStatus('watch', statusError(ERROR_EVENT_STATUS, status, undefined, where));
}

/** Counts where the Status of an ERROR event has no code. */
const ERROR_EVENT_STATUS = 500;

function fromStatus(during: Verb, error: KubeStatusError): Failure {
  return {
    kind: KINDS[error.code] ?? 'other',
    during,
    error,
    retryAfterMs: error.retryAfterSeconds * 1000,
  };
}

/** There was no answer at all, so nothing is known to be wrong with our position. */
export function unreachable(during: Verb, error: KubeloomError): Failure {
  return { kind: 'unreachable', during, error, retryAfterMs: 0 };
}

/** The response broke off. */
export function torn(during: Verb, error: KubeloomError): Failure {
  return { kind: 'other', during, error, retryAfterMs: 0 };
}

export function malformed(what: string, where: string, quoted: string): Failure {
  const error = new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_EVENT',
    `${where}: ${what}: ${quoted}; nothing of it was used, reading goes on from the last good position`,
  );
  return { kind: 'malformed', during: 'decode', error, retryAfterMs: 0 };
}

export function stalled(during: Verb, where: string, silenceMs: number): Failure {
  const error = new KubeloomError(
    'ERR_KUBELOOM_STALLED',
    `${where}: the server has sent nothing for ${Math.round(silenceMs / 1000)} s; asking again`,
  );
  return { kind: 'stalled', during, error, retryAfterMs: 0 };
}

export function noEndBookmark(where: string, waitedMs: number): Failure {
  const error = new KubeloomError(
    'ERR_KUBELOOM_NO_END_BOOKMARK',
    `${where}: the streaming list did not end within ${Math.round(waitedMs / 1000)} s; listing instead`,
  );
  return { kind: 'no-end-bookmark', during: 'watch', error, retryAfterMs: 0 };
}

export function noListProgress(): Failure {
  const error = new KubeloomError(
    'ERR_KUBELOOM_LIST_NO_PROGRESS',
    'the server answered a page of the list with the continue token of that same page; the list begins anew',
  );
  return { kind: 'other', during: 'list', error, retryAfterMs: 0 };
}

export function veryShortWatch(cause: KubeloomError | undefined): Failure {
  const error = new KubeloomError(
    'ERR_KUBELOOM_VERY_SHORT_WATCH',
    'the server closed the watch within a second and without an event' + (cause ? `: ${cause.message}` : ''),
    cause ? { cause } : {},
  );
  return { kind: 'other', during: 'watch', error, retryAfterMs: 0 };
}
