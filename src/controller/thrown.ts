/**
 * What a ListerWatcher throws, sorted into the failures that the reflector's rules tell apart: an answer of
 * the server is recognised by its status, everything else is a connection that could not be made.
 */
import { KubeloomError } from '../errors.ts';
import { isRecord } from '../kube/meta-shape.ts';
import { answeredWith, unreachable } from '../reflector/failure.ts';
import type { Failure } from '../reflector/state.ts';
import { KubeStatusError } from '../transport/status.ts';

type Verb = 'list' | 'watch';

/** @param where for the message: what was asked for */
export function failureOf(verb: Verb, thrown: unknown, where: string): Failure {
  const answered = answerIn(verb, thrown, where);
  return answered ?? unreachable(verb, errorOf(verb, thrown, where));
}

/** The failure if it is an answer of a server: ours, client-node's ApiException, or anything alike. */
export function answerIn(verb: Verb, thrown: unknown, where: string): Failure | undefined {
  const httpStatus = httpStatusOf(thrown);
  if (httpStatus === undefined || !isRecord(thrown)) return undefined;
  const body = bodyOf(httpStatus, thrown);
  const failure = answeredWith(verb, httpStatus, body, retryAfterOf(thrown), where);
  return thrown instanceof KubeStatusError ? { ...failure, error: thrown } : failure;
}

/** The failure if it is an event that could not be read. */
export function malformedIn(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof KubeloomError) || thrown.code !== 'ERR_KUBELOOM_MALFORMED_EVENT') return undefined;
  return { kind: 'malformed', during: 'decode', error: thrown, retryAfterMs: 0 };
}

/** Wrapped, unless it is one of ours. */
export function errorOf(verb: Verb, thrown: unknown, where: string): KubeloomError {
  if (thrown instanceof KubeloomError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new KubeloomError('ERR_KUBELOOM_LIST_WATCH', `${where}: the ${verb} function failed: ${reason}`, {
    cause: thrown,
  });
}

function httpStatusOf(thrown: unknown): number | undefined {
  if (!isRecord(thrown)) return undefined;
  for (const candidate of [thrown['httpStatus'], thrown['code'], thrown['statusCode']]) {
    if (typeof candidate === 'number' && candidate >= 100 && candidate < 600) return candidate;
  }
  return undefined;
}

/** A Status as text: the one that came with the error, or one made of what the error says. */
function bodyOf(httpStatus: number, thrown: Readonly<Record<string, unknown>>): string {
  const { body, reason, serverMessage, message, causes } = thrown;
  if (typeof body === 'string') return body;
  if (isRecord(body)) return JSON.stringify(body);
  return JSON.stringify({
    kind: 'Status',
    code: httpStatus,
    reason,
    message: serverMessage ?? message,
    details: { causes },
  });
}

function retryAfterOf(thrown: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = thrown['retryAfterSeconds'];
  return typeof seconds === 'number' && seconds > 0 ? seconds : undefined;
}
