/** Reports the errors of elections and partitions to the caller. */
import { callGuarded } from '../../base/callbacks.ts';
import type { KubeloomError } from '../../base/errors.ts';
import { warnIn } from '../../base/logger.ts';
import type { Logger } from '../../base/logger.ts';

type OnError = (error: KubeloomError) => void;

/**
 * Returns a function that calls `onError` and writes a line of the log, or emits a process warning if both are absent.
 * An error that `onError` throws becomes a line or a warning: the election must continue.
 *
 * @param what names the election in lines and warnings
 */
export function reporterOf(what: string, onError: OnError | undefined, log: Logger | undefined): OnError {
  const warned: OnError = (error) => warnIn(log, error, `${what}: ${error.message}`);
  return (error) => {
    if (onError) callGuarded('onError', () => onError(error), warned);
    if (log || !onError) warned(error);
  };
}
