/** The error of a reconciliation that a retry cannot repair. */
import { KubeloomError } from '../base/errors.ts';
import type { KubeloomErrorOptions } from '../base/errors.ts';

/** Thrown by a reconcile function: the item is reported as failed, and is not added again until it changes. */
export class TerminalError extends KubeloomError {
  constructor(message: string, options: KubeloomErrorOptions = {}) {
    super('ERR_KUBELOOM_TERMINAL', message, options);
  }
}
