/** The body of a response other than 200: a Status, or whatever a proxy had to say. */
import type { KubeloomError } from '../errors.ts';
import type { Body } from './body.ts';

const BODY_BYTES_MAX = 64 * 1024;

export class ErrorBody implements Body {
  #onText: ((text: string) => void) | undefined;
  readonly progress: undefined = undefined;
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

  /** What has arrived of a torn answer is an answer: the status is known. */
  end(_error: KubeloomError | undefined): void {
    const onText = this.#onText;
    this.#onText = undefined;
    onText?.(Buffer.concat(this.#chunks).toString('utf8'));
  }

  pause(): void {
    // Nothing measures time here.
  }

  resume(): void {
    // Nothing measures time here.
  }

  close(): void {
    // Nothing to be released.
  }
}
