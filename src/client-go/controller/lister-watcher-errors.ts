/**
 * Classifies errors of a ListerWatcher into the failures of the reflector's rules: a server's response by the status,
 * everything else as a connection failure.
 */
import { KubeloomError, wrapped } from '../../base/errors.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import { answeredWith, unreachable } from '../../reflector/rules/failure.ts';
import type { Failure } from '../../reflector/rules/state.ts';
import { KubeStatusError, statusText } from '../../kube/status.ts';

type Verb = 'list' | 'watch';

/** @param where the request, for the message */
export function failureOf(verb: Verb, thrown: unknown, where: string): Failure {
  return answerIn(verb, thrown, where) ?? unreachable(verb, errorOf(verb, thrown, where));
}

/**
 * Returns the failure if the error is a server's response: kubeloom's, client-node's ApiException, or a similar error.
 */
export function answerIn(verb: Verb, thrown: unknown, where: string): Failure | undefined {
  const httpStatus = httpStatusOf(thrown);
  if (httpStatus === undefined || !isRecord(thrown)) return undefined;
  const body = bodyOf(httpStatus, thrown);
  const failure = answeredWith(verb, httpStatus, body, retryAfterOf(thrown), where);
  return thrown instanceof KubeStatusError ? { ...failure, error: thrown } : failure;
}

/** Returns the failure if the error is an event that could not be parsed. */
export function malformedIn(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof KubeloomError) || thrown.code !== 'ERR_KUBELOOM_MALFORMED_EVENT') return undefined;
  return { kind: 'malformed', during: 'decode', error: thrown, retryAfterMs: 0 };
}

/** Returns the error, wrapped unless it is an error of kubeloom. */
export function errorOf(verb: Verb, thrown: unknown, where: string): KubeloomError {
  return wrapped('ERR_KUBELOOM_LISTER_WATCHER', `${where}: the ${verb} function failed`, thrown);
}

function httpStatusOf(thrown: unknown): number | undefined {
  if (!isRecord(thrown)) return undefined;
  for (const candidate of [thrown['httpStatus'], thrown['code'], thrown['statusCode']]) {
    if (typeof candidate === 'number' && candidate >= 100 && candidate < 600) return candidate;
  }
  return undefined;
}

/** Returns a Status as text: the error's own Status, or a Status made of the error's message. */
function bodyOf(httpStatus: number, thrown: Readonly<Record<string, unknown>>): string {
  const { body, reason, serverMessage, message, causes } = thrown;
  if (typeof body === 'string') return body;
  if (isRecord(body)) return statusText(body, thrown);
  const status = {
    kind: 'Status',
    code: httpStatus,
    reason,
    message: serverMessage ?? message,
    details: { causes },
  };
  return statusText(status, thrown);
}

function retryAfterOf(thrown: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = thrown['retryAfterSeconds'];
  return typeof seconds === 'number' && seconds > 0 ? seconds : undefined;
}
