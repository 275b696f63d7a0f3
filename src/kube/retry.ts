/**
 * The consequence of a failed request: a single rule for work queues, events and elections.
 *
 * - `repeat`: the server did not act, and the same request may succeed later;
 * - `unconfirmed`: a write may have happened or not: look before it is repeated;
 * - `refused`: the same request fails again.
 */
import { KubeloomError } from '../base/errors.ts';
import { KubeStatusError } from './status.ts';

export type RequestOutcome = 'repeat' | 'unconfirmed' | 'refused';

/** Failures of the way to the server and of the credentials, which other programs mend. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'ERR_KUBELOOM_UNREACHABLE',
  'ERR_KUBELOOM_CONNECTION_RESET',
  'ERR_KUBELOOM_TRUNCATED',
  'ERR_KUBELOOM_HTTP',
  'ERR_KUBELOOM_STALLED',
  'ERR_KUBELOOM_PROXY',
  'ERR_KUBELOOM_TLS',
  'ERR_KUBELOOM_CREDENTIALS',
  'ERR_KUBELOOM_UNAUTHORIZED',
]);
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;
const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 504]);
const RETRY_AFTER_MAX_MS = 300_000;

export function outcomeOf(error: unknown): RequestOutcome {
  if (!(error instanceof KubeloomError)) return 'refused';
  if (error.code === 'ERR_KUBELOOM_WRITE_UNCONFIRMED') return 'unconfirmed';
  if (TRANSIENT.has(error.code)) return 'repeat';
  if (!(error instanceof KubeStatusError)) return 'refused';
  const { httpStatus } = error;
  return httpStatus === TOO_MANY_REQUESTS || httpStatus >= SERVER_ERROR ? 'repeat' : 'refused';
}

/**
 * Returns whether an answer to a write leaves open what happened: a proxy or the server itself gave up waiting, and the write
 * goes on behind it.
 */
export function isUnconfirmed({ httpStatus, code, reason, serverMessage }: KubeStatusError): boolean {
  if (GATEWAY_ERRORS.has(httpStatus) || code === 'ERR_KUBELOOM_SERVER_TIMEOUT') return true;
  if (httpStatus === SERVER_ERROR) return serverMessage.includes('request timed out');
  // An apiserver says why it is not available; a proxy may have passed the request on.
  return httpStatus === 503 && reason === '';
}

/** Returns the delay that the server wants before a repetition, at most five minutes; 0 if it names none. */
export function retryAfterMs(error: unknown): number {
  // An error of another thread carries the number, and not the class.
  const seconds: unknown = error instanceof Error ? Reflect.get(error, 'retryAfterSeconds') : undefined;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1000, RETRY_AFTER_MAX_MS) : 0;
}
