/**
 * One behaviour for a transform that fails, wherever the object came from: it is reported, and the object is
 * stored as it was received. (client-go relists for ever, leaves the object out, or loses the event.)
 */
import { keyOf } from '../cache/keys.ts';
import type { KeyFunction } from '../cache/store.ts';
import { KubeloomError } from '../errors.ts';
import type { Transformer } from '../queue/delta.ts';
import type { ErrorReports } from './error-reports.ts';

/** A result with another key counts as a failure too: it could not be found again, nor deleted. */
export function safeTransform<Item>(
  transform: Transformer<Item>,
  keyFunction: KeyFunction<Item>,
  reports: ErrorReports,
): Transformer<Item> {
  return (item) => {
    const key = keyIfAny(keyFunction, item);
    // The queue says so.
    if (key === undefined) return item;
    try {
      const transformed = transform(item);
      const after = keyOf(keyFunction, transformed);
      if (after === key) return transformed;
      throw new Error(`its key became ${JSON.stringify(after)}`);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `the transform of ${JSON.stringify(key)} failed: ${reason}; the object is stored as received`;
      reports.report(new KubeloomError('ERR_KUBELOOM_TRANSFORM', message, { cause }), 'transform');
      return item;
    }
  };
}

function keyIfAny<Item>(keyFunction: KeyFunction<Item>, item: Item): string | undefined {
  try {
    return keyOf(keyFunction, item);
  } catch {
    return undefined;
  }
}
