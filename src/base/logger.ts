/**
 * The logger of a program, in the shape that pino and the console share: fields first, then the message. pino merges the
 * fields into the line; the console prints them before the message.
 */
import { callGuarded, warn } from './callbacks.ts';
import type { KubeloomError } from './errors.ts';
import { having } from './option-checks.ts';
import type { OptionCheck } from './option-checks.ts';

/** A logger of pino, or `console`. */
export interface Logger {
  /** Writes a line about a single step, such as a reconciliation that began. */
  debug(fields: object, message?: string): void;
  /** Writes the line without fields. */
  debug(message: string): void;
  /** Writes a line about a change of state, such as a new leader. */
  info(fields: object, message?: string): void;
  /** Writes the line without fields. */
  info(message: string): void;
  /** Writes a line about an error; `code` is the code of the error, `err` the error. */
  warn(fields: object, message?: string): void;
  /** Writes the line without fields. */
  warn(message: string): void;
  /** Writes a line about work that failed, such as a reconciliation; `err` is the error. */
  error(fields: object, message?: string): void;
  /** Writes the line without fields. */
  error(message: string): void;
}

type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error'];

export const aLogger: OptionCheck = having('a logger with debug(), info(), warn() and error()', ...LEVELS);

/**
 * Returns a logger that adds fields to each line. An error as the first argument becomes the field `err`, which pino prints with
 * the stack. An error that the program's logger throws becomes a process warning.
 */
export function loggerWith(log: Logger, bound: object): Logger {
  const at =
    (level: Level) =>
    (first: object | string, message?: string): void => {
      const text = typeof first === 'string' ? first : message;
      const own = first instanceof Error ? { err: first } : first;
      const fields = typeof own === 'string' ? bound : { ...bound, ...own };
      callGuarded('log', () => (text === undefined ? log[level](fields) : log[level](fields, text)));
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Writes an error as a line with the code, or emits a process warning if there is no log. @param more end of the line */
export function warnIn(log: Logger | undefined, error: KubeloomError, more: string = ''): void {
  const { code, message } = error;
  if (log) loggerWith(log, { code, err: error }).warn(`${message}${more}`);
  else warn({ code, message: `${message}${more}` });
}
