/**
 * Sorts failures into the kinds that `step` distinguishes, and words the errors that arise in the reflector
 * itself.
 */
import type { ErrorCode } from '../../base/error-codes/error-table.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import type { ConnectionOptions } from '../../kube/connection-options.ts';
import { statusError } from '../../kube/status.ts';
import type { KubeStatusError } from '../../kube/status.ts';
import type { Failure, FailureKind } from './state.ts';

type Verb = 'list' | 'watch';

/** Kinds by the code of a server's answer; every other code is `other`. */
const KINDS: Readonly<Partial<Record<ErrorCode, FailureKind>>> = {
  ERR_KUBELOOM_GONE: 'expired',
  ERR_KUBELOOM_RESOURCE_VERSION_TOO_LARGE: 'too-large',
  ERR_KUBELOOM_TOO_MANY_REQUESTS: 'too-many-requests',
  ERR_KUBELOOM_UNAUTHORIZED: 'unauthorized',
};
const SERVER_ERROR_MIN = 500;

export function answeredWith(
  verb: Verb,
  status: number,
  body: string,
  retryAfterSeconds: number | undefined,
  where: string,
): Failure {
  const answer = fromStatus(verb, statusError(status, body, retryAfterSeconds, where));
  // A 5xx with Retry-After is overload: the request itself is not at fault.
  const isBusy = answer.kind === 'other' && status >= SERVER_ERROR_MIN && answer.retryAfterMs > 0;
  return isBusy ? { ...answer, kind: 'too-many-requests' } : answer;
}

/** @param status the object of an ERROR event */
export function errorEvent(status: string, where: string): Failure {
  const event = fromStatus('watch', statusError(ERROR_EVENT_STATUS, status, undefined, where));
  return event.error.code === 'ERR_KUBELOOM_INTERNAL' ? { ...event, kind: 'internal-error' } : event;
}

const ERROR_EVENT_STATUS = 500;

function fromStatus(during: Verb, error: KubeStatusError): Failure {
  return { kind: KINDS[error.code] ?? 'other', during, error, retryAfterMs: error.retryAfterSeconds * 1000 };
}

function failure(kind: FailureKind, during: Failure['during'], code: ErrorCode, message: string): Failure {
  return { kind, during, error: new KubeloomError(code, message), retryAfterMs: 0 };
}

/** Classifies a request without an answer: the position may still be good. */
export function unreachable(during: Verb, error: KubeloomError): Failure {
  return { kind: 'unreachable', during, error, retryAfterMs: 0 };
}

export function torn(during: Verb, error: KubeloomError): Failure {
  return { kind: 'other', during, error, retryAfterMs: 0 };
}

export function noCredentials(during: Verb, waitedMs: number): Failure {
  return failure(
    'unreachable',
    during,
    'ERR_KUBELOOM_CREDENTIALS',
    `no credentials within ${waitedMs / 1000} s: check for a hanging plugin of the kubeconfig or a blocked main thread`,
  );
}

export function malformed(what: string, where: string, quoted: string): Failure {
  return failure(
    'malformed',
    'decode',
    'ERR_KUBELOOM_MALFORMED_EVENT',
    `${where}: ${what}: ${quoted}; it was dropped; reading resumes from the last good position`,
  );
}

/** Classifies a version of a list or bookmark that no record of a ring can have. */
export function versionTooLong(where: string, bytes: number, bytesMax: number): Failure {
  return failure(
    'malformed',
    'decode',
    'ERR_KUBELOOM_OBJECT_TOO_LARGE',
    `${where}: the resourceVersion of the answer has ${bytes} bytes, and the limit is ${bytesMax}: a quarter of ringBytes, ` +
      'and objectBytesMax; raise the lower limit',
  );
}

/** Classifies a line of a watch that is too long: the watch resumes from the last good position. */
export function unreadable(error: KubeloomError): Failure {
  return { kind: 'malformed', during: 'decode', error, retryAfterMs: 0 };
}

export function truncated(where: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_TRUNCATED',
    `${where}: the answer ended without an error in the middle of an event; the watch resumes before that event`,
  );
}

export function outOfOrder(where: string, what: string): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_OUT_OF_ORDER',
    `${where}: the server sent ${what} after newer events; it was ignored`,
  );
}

/**
 * Classifies events of another history: a server restored from a backup, or another server behind the same
 * name.
 */
export function wentBack(where: string, resourceVersion: string): Failure {
  return failure(
    'went-back',
    'watch',
    'ERR_KUBELOOM_TIME_TRAVEL',
    `${where}: the server sent an event of version ${resourceVersion}, older than the version ` +
      'of the request or of a bookmark; listing again',
  );
}

export function expiredLoop(rounds: number, cause: KubeloomError): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_EXPIRED_LOOP',
    `the server has refused ${rounds} watches in a row as too old, each from the version of the latest list; ` +
      `kubeloom waits longer after each: ${cause.message}`,
    { cause },
  );
}

export function stalled(during: Verb, where: string, silenceMs: number): Failure {
  const seconds = Math.round(silenceMs / 1000);
  const message = `${where}: the server has been silent for ${seconds} s; requesting again`;
  return failure('stalled', during, 'ERR_KUBELOOM_STALLED', message);
}

export function noEndBookmark(where: string, waitedMs: number): Failure {
  const message = `${where}: the streaming list did not end within ${Math.round(waitedMs / 1000)} s; listing instead`;
  return failure('no-end-bookmark', 'watch', 'ERR_KUBELOOM_NO_END_BOOKMARK', message);
}

export function noListProgress(): Failure {
  const message =
    'the server answered a page of the list with the continue token of the same page; listing again';
  return failure('other', 'list', 'ERR_KUBELOOM_MALFORMED_RESPONSE', message);
}

export function veryShortWatch(cause: KubeloomError | undefined): Failure {
  const error = new KubeloomError(
    'ERR_KUBELOOM_VERY_SHORT_WATCH',
    'the server closed the watch within a second and without an event' + (cause ? `: ${cause.message}` : ''),
    cause ? { cause } : {},
  );
  return torn('watch', error);
}

/** Wraps what the transport's constructor throws: an unusable address or certificate. */
export function unusable(connection: ConnectionOptions, cause: unknown): KubeloomError {
  if (cause instanceof KubeloomError) return cause;
  const reason = messageOf(cause);
  return new KubeloomError(
    'ERR_KUBELOOM_KUBECONFIG',
    `no connection can be made to ${JSON.stringify(connection.server)}: ${reason}; check the kubeconfig`,
    { cause },
  );
}
