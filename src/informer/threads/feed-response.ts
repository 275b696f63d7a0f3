/**
 * One answer of a feed to the reflector. Gathers text into chunks. `isFull` asks the feed to stop calling the user's
 * functions while too many bytes are unacknowledged.
 */
import { realTimers } from '../../base/clock.ts';
import { toErrorMessage } from '../../base/errors.ts';
import type { FeedAnswer } from '../../shared/protocol.ts';

/** Large, because a message costs some microseconds whatever its size. */
const CHUNK_CHARACTERS = 64 * 1024;
/** Enough to keep the reflector working while an acknowledgement is on its way. */
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

  /** Aborted when the reflector closes the request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the answer has ended or the reflector has closed the request. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the feed must wait for `room` before the next `write`. */
  get isFull(): boolean {
    return !this.#isOver && this.#unacknowledgedBytes + this.#characters >= WINDOW_BYTES;
  }

  /** Resolves when there is room or the answer has ended. Allows one waiting caller at a time. */
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

  /** Sends the text, together with everything else written in this turn of the event loop. */
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

  /** Acknowledges bytes that the reflector has read. */
  taken(bytes: number): void {
    this.#unacknowledgedBytes -= bytes;
    this.#wake();
  }

  /** Drops the rest: the reflector has closed the request. */
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
