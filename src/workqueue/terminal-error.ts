/** The error of a reconciliation that a retry cannot repair. */
import { KubeloomError, inspectable } from '../base/errors.ts';
import type { KubeloomErrorOptions } from '../base/errors.ts';

/** Thrown by a reconcile function: the item is reported as failed, and is not added again until it changes. */
export class TerminalError extends KubeloomError {
  constructor(message: string, options: KubeloomErrorOptions = {}) {
    super('ERR_KUBELOOM_TERMINAL', message, options);
  }
}

/** Returns whether the error, a cause of the error, or one of several errors in it, is a `TerminalError`. In Go: errors.Is. */
export function isTerminal(error: unknown): boolean {
  const open = new Set([error]);
  // The set grows while it is read: an error that occurs again ends a cycle.
  for (const thrown of open) {
    const each = inspectable(thrown);
    if (each instanceof TerminalError) return true;
    if (!(each instanceof Error)) continue;
    open.add(each.cause);
    if (each instanceof AggregateError) for (const one of Array.from(each.errors)) open.add(one);
  }
  return false;
}
