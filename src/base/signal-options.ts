/** The signals of calls: `{ signal }`, the last of a call's options or the only one. */
import { checkOptions, signal } from './option-checks.ts';
import type { OptionChecks } from './option-checks.ts';

/** Options of a call that a signal can end. */
export interface SignalOptions {
  /** Ends the call when it is aborted. Default: none. */
  readonly signal?: AbortSignal;
}

const CHECKS: OptionChecks<SignalOptions> = { signal };

/**
 * Returns the signal of a call.
 *
 * @param call names the call in messages: `waitForSync()`
 * @throws ERR_KUBELOOM_OPTION for options of another shape
 */
export function signalOf(call: string, options: SignalOptions | undefined): AbortSignal | undefined {
  if (options === undefined) return undefined;
  checkOptions(`options of ${call}`, options, CHECKS);
  return options.signal;
}

/**
 * Returns the signal that ends a `run()` or `start()`. JavaScript that passes the signal itself, as Go passes a context,
 * has said all that there is to say.
 *
 * @throws ERR_KUBELOOM_OPTION for options of another shape
 */
export function signalOfRun(call: string, options: SignalOptions | undefined): AbortSignal | undefined {
  return options instanceof AbortSignal ? options : signalOf(call, options);
}

/** Does the same for a call that only its signal ends. */
export function requiredSignal(call: string, options: Required<SignalOptions>): AbortSignal {
  const ending = signalOfRun(call, options);
  signal(`signal of ${call}`, ending);
  return ending as AbortSignal;
}
