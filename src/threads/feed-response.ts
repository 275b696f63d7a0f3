/**
 * One answer of a feed on its way to the reflector: gathers text into chunks, and says when so much is
 * unacknowledged that no more should be asked of the user's functions.
 */
import { realTimers } from '../clock.ts';
import { toErrorMessage } from '../errors.ts';
import type { FeedAnswer } from './protocol.ts';

/** A message costs some microseconds, whatever is in it. */
const CHUNK_CHARACTERS = 64 * 1024;
/** Enough that the reflector has work while an acknowledgement is on its way. */
export const WINDOW_BYTES: number = 256 * 1024;

const encoder = new TextEncoder();

export class FeedResponse {
  readonly #request: number;
  readonly #post: (answer: FeedAnswer) => void;
  readonly #controller: AbortController = new AbortController();
  #text: string[] = [];
  #characters = 0;
  #unacknowledgedBytes = 0;
  #isFlushing = false;
  #isOver = false;
  #roomMade: (() => void) | undefined;

  constructor(request: number, post: (answer: FeedAnswer) => void) {
    this.#request = request;
    this.#post = post;
  }

  /** Aborted when nobody wants the rest. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** It was ended, or nobody wants the rest. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Wait for `room` before the next `write`. */
  get isFull(): boolean {
    return !this.#isOver && this.#unacknowledgedBytes + this.#characters >= WINDOW_BYTES;
  }

  /** Resolves when there is room, or when it is over. At most one may wait. */
  async room(): Promise<void> {
    this.#flush();
    while (this.isFull) {
      await new Promise<void>((resolve) => {
        this.#roomMade = resolve;
      });
    }
  }

  head(status: number, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#isOver) return;
    this.#post({ type: 'feed', request: this.#request, part: 'head', status, headers });
  }

  /** Sends it with what else is written before the event loop goes on. */
  write(text: string): void {
    if (this.#isOver) return;
    this.#text.push(text);
    this.#characters += text.length;
    if (this.#characters >= CHUNK_CHARACTERS) this.#flush();
    else this.#flushSoon();
  }

  end(error?: unknown): void {
    if (this.#isOver) return;
    this.#flush();
    this.#isOver = true;
    const ended = { type: 'feed', request: this.#request, part: 'end' } as const;
    this.#post(error === undefined ? ended : { ...ended, error: toErrorMessage(error) });
  }

  /** The reflector has taken so much. */
  taken(bytes: number): void {
    this.#unacknowledgedBytes -= bytes;
    this.#wake();
  }

  /** The reflector has lost interest. */
  close(): void {
    this.#isOver = true;
    this.#text = [];
    this.#controller.abort();
    this.#wake();
  }

  #wake(): void {
    const roomMade = this.#roomMade;
    this.#roomMade = undefined;
    roomMade?.();
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    realTimers.setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#isOver || this.#text.length === 0) return;
    const chunk = encoder.encode(this.#text.join(''));
    this.#text = [];
    this.#characters = 0;
    this.#unacknowledgedBytes += chunk.length;
    this.#post({ type: 'feed', request: this.#request, part: 'data', chunk });
  }
}
