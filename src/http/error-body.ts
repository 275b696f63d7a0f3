/** A response other than 200: the body, a Status or the text of a proxy, and the Retry-After header. */
import type { KubeloomError } from '../base/errors.ts';
import type { BodyReader } from './http.ts';

const BODY_BYTES_MAX = 64 * 1024;

export class ErrorBody implements BodyReader {
  #onText: ((text: string) => void) | undefined;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  write(chunk: Buffer, start: number): number {
    const part = chunk.subarray(start, start + BODY_BYTES_MAX - this.#length);
    this.#chunks.push(Buffer.from(part));
    this.#length += part.length;
    if (this.#length >= BODY_BYTES_MAX) this.end(undefined);
    return chunk.length;
  }

  /** Delivers the text, also when the response broke off: the status is already known. */
  end(_error: KubeloomError | undefined): void {
    const onText = this.#onText;
    this.#onText = undefined;
    onText?.(Buffer.concat(this.#chunks).toString('utf8'));
  }
}

/**
 * Reads the Retry-After header, a number or a date. A date is compared with the Date header of the same answer, so
 * our clock does not matter.
 *
 * @returns seconds, or undefined when the header is missing or malformed
 */
export function retryAfterSeconds(headers: Readonly<Record<string, string>>): number | undefined {
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const until = httpDate(value);
  const from = httpDate(headers['date'] ?? '');
  if (until === undefined || from === undefined) return undefined;
  return Math.max(0, (until - from) / 1000);
}

/** Parses only text that looks like a date: Date.parse accepts almost anything. */
function httpDate(text: string): number | undefined {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
