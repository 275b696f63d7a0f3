/** The errors of elections and partitions on their way to the caller. */
import { callGuarded, warn } from '../../base/callbacks.ts';
import { KubeloomError } from '../../base/errors.ts';

type OnError = (error: KubeloomError) => void;

/**
 * Returns a function that calls `onError`, or emits a process warning without one. An error that `onError` throws becomes a
 * warning: it must not keep an election from its next steps.
 *
 * @param what names the election in warnings
 */
export function reporterOf(what: string, onError: OnError | undefined): OnError {
  const warned: OnError = ({ code, message }) => warn(new KubeloomError(code, `${what}: ${message}`));
  return onError ? (error) => callGuarded('onError', () => onError(error), warned) : warned;
}
