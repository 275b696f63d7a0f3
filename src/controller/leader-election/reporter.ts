/** The errors of elections and partitions on their way to the caller. */
import { wrapped } from '../../base/errors.ts';
import type { KubeloomError } from '../../base/errors.ts';

type OnError = (error: KubeloomError) => void;

/**
 * Returns a function that calls `onError`, or emits a process warning without one. An error that `onError` throws becomes a
 * warning: it must not keep an election from its next steps.
 *
 * @param what names the election in warnings
 */
export function reporterOf(what: string, onError: OnError | undefined): OnError {
  const warn: OnError = ({ code, message }) =>
    process.emitWarning(`${what}: ${message}`, { type: 'KubeloomWarning', code });
  return (error) => {
    try {
      (onError ?? warn)(error);
    } catch (thrown) {
      warn(wrapped('ERR_KUBELOOM_HANDLER', 'onError threw', thrown));
    }
  };
}
