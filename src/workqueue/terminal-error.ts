/** The error of a reconciliation that a retry cannot repair. */
import { KubeloomError } from '../base/errors.ts';
import type { KubeloomErrorOptions } from '../base/errors.ts';

/** Thrown by a reconcile function: the item is reported as failed, and is not added again until it changes. */
export class TerminalError extends KubeloomError {
  constructor(message: string, options: KubeloomErrorOptions = {}) {
    super('ERR_KUBELOOM_TERMINAL', message, options);
  }
}

/** Returns whether the error, a cause of the error, or one of several errors in it, is a `TerminalError`. In Go: errors.Is. */
export function isTerminal(error: unknown): boolean {
  // The set grows while it is read: an error that occurs again ends a cycle.
  const open = new Set([error]);
  try {
    for (const each of open) {
      if (each instanceof TerminalError) return true;
      if (each instanceof Error) open.add(each.cause);
      if (each instanceof AggregateError) for (const one of each.errors) open.add(one);
    }
  } catch {
    // An error that cannot be read.
  }
  return false;
}
