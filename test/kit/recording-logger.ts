/** A log that keeps its lines and their fields. */
import type { Logger } from '../../src/base/logger.ts';

export class RecordingLogger implements Logger {
  /** Level and message of each line. */
  readonly lines: string[] = [];
  /** The fields of each line. */
  readonly fields: Record<string, unknown>[] = [];

  debug(first: object | string, message?: string): void {
    this.#keep('debug', first, message);
  }

  info(first: object | string, message?: string): void {
    this.#keep('info', first, message);
  }

  warn(first: object | string, message?: string): void {
    this.#keep('warn', first, message);
  }

  error(first: object | string, message?: string): void {
    this.#keep('error', first, message);
  }

  #keep(level: string, first: object | string, message?: string): void {
    this.lines.push(`${level} ${typeof first === 'string' ? first : (message ?? '')}`);
    this.fields.push(typeof first === 'string' ? {} : { ...first });
  }
}
