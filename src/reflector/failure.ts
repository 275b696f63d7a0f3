/**
 * The errors that arise in the reflector itself, and the kinds that `step` tells apart.
 */
import { KubeloomError } from '../errors.ts';
import type { Failure } from './state.ts';

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
