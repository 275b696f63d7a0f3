/**
 * The signal of a leader's work. It looks at the clock whenever it is asked: after a suspended process continues, timers and
 * answers that are older than the elector's own timer run first, and they must not find a signal that is still quiet.
 */

/** Returns the controller's signal, on which `aborted` and `throwIfAborted` call `check` first, which may abort it. */
export function signalWithCheck({ signal }: AbortController, check: () => void): AbortSignal {
  const isAborted = (): boolean => {
    check();
    return Reflect.get<AbortSignal, 'aborted'>(AbortSignal.prototype, 'aborted', signal);
  };
  const throwIfAborted = (): void => {
    if (isAborted()) throw signal.reason;
  };
  return Object.defineProperties(signal, {
    aborted: { get: isAborted },
    throwIfAborted: { value: throwIfAborted },
  });
}
