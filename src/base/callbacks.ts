/**
 * Calls of the program's functions for which no caller waits: `onError`, `onReady`, metrics. What they throw, or reject with,
 * is reported and ends nothing else.
 */
import { KubeloomError, firstLineOf, inspectable } from './errors.ts';
import { escapeControls } from './printable.ts';
import { isThenable } from './thenable.ts';

/** Receives what a function of the program threw, with ERR_KUBELOOM_ERROR_LISTENER. */
export type Report = (error: KubeloomError) => void;

/** @param what name of the function in the report: `onError` */
export function callGuarded(what: string, call: () => unknown, report: Report = warn): void {
  const failed = (cause: unknown): void => {
    const message = `${what} threw: ${firstLineOf(cause)}`;
    report(new KubeloomError('ERR_KUBELOOM_ERROR_LISTENER', message, { cause }));
  };
  attempt(call, failed);
}

/** Calls a function of the program. @param failed called with the error that it throws, or rejects with */
export function attempt(call: () => unknown, failed: (cause: unknown) => void): void {
  const caught = (thrown: unknown): void => failed(inspectable(thrown));
  try {
    const result = call();
    if (isThenable(result)) Promise.resolve(result).catch(caught);
  } catch (thrown) {
    caught(thrown);
  }
}

/** Emits an error as a process warning with its code. */
export function warn({ code, message }: Pick<KubeloomError, 'code' | 'message'>): void {
  process.emitWarning(escapeControls(message), { type: 'KubeloomWarning', code });
}
