/**
 * The logger of a program, in the shape that pino and the console share: fields first, then the message. pino merges the
 * fields into the line; the console prints them before the message.
 */
import { inspect } from 'node:util';
import { callGuarded, warn } from './callbacks.ts';
import type { KubeloomError } from './errors.ts';
import { inspectAs } from './inspect-as.ts';
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
 * the stack. An error that the program's logger throws becomes a process warning: kubeloom calls a logger only through this one.
 */
export function loggerWith(log: Logger, bound: object = {}): Logger {
  const at =
    (level: Level) =>
    (first: object | string, message?: string): void => {
      const text = typeof first === 'string' ? first : message;
      callGuarded('log', () => {
        const own = first instanceof Error ? { err: first } : first;
        const fields = typeof own === 'string' ? { ...bound } : { ...bound, ...own };
        inspectAs(fields, inLine);
        if (text === undefined) return log[level](fields);
        return Object.keys(fields).length === 0 ? log[level](text) : log[level](fields, text);
      });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Returns the text of fields at the console, which would print them, and the stack of an error, in several lines. */
function inLine(fields: object): string {
  const joined = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');
  const values = Object.entries(fields).map(([name, value]) => {
    if (!(value instanceof Error)) return [name, value];
    const { stack, cause } = value;
    return [name, joined(cause === undefined ? String(stack) : `${stack} [cause]: ${inspect(cause)}`)];
  });
  return joined(inspect(Object.fromEntries(values), { breakLength: Infinity, compact: true }));
}

/** Writes an error as a line with the code, or emits a process warning if there is no log. */
export function warnIn(log: Logger | undefined, error: KubeloomError, message: string = error.message): void {
  const { code } = error;
  if (log) loggerWith(log, { code, err: error }).warn(message);
  else warn({ code, message });
}
