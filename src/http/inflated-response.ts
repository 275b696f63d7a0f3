/**
 * A response that may be compressed with gzip: the sink receives inflated bytes, the connection is read at the sink's pace.
 * zlib inflates in a thread of libuv, a piece at a time, so that at most a few pieces wait for the sink. What was flushed by
 * the server is inflated at once: each event of a watch arrives when it is sent.
 */
import { createGunzip } from 'node:zlib';
import type { Gunzip } from 'node:zlib';
import type { KubeloomError } from '../base/errors.ts';
import type { HttpExchange, ResponseSink } from './http.ts';
import { notInflated } from './http-errors.ts';

/** Larger pieces are not faster, smaller ones cost more: 16 KiB take four times the time. */
const PIECE_BYTES = 256 * 1024;
/** Lists of objects are inflated to 10 to 60 times their length, and a text of one letter to 1000 times. */
const RATIO_MAX = 200;
/** A short answer may exceed the ratio: a few objects of one letter are no attack. */
const ANY_RATIO_BYTES_MAX = 64 * 2 ** 20;

/** Returns the encoding of a body, in lower case: `identity` if it has none. */
export function encodingOf(headers: Readonly<Record<string, string>>): string {
  return headers['content-encoding']?.toLowerCase() ?? 'identity';
}

/** The error is undefined if the bytes are complete. */
interface End {
  readonly error: KubeloomError | undefined;
}

export class InflatedResponse implements ResponseSink, HttpExchange {
  /** The exchange of the connection, set before the response begins. */
  http: HttpExchange | undefined;
  readonly #url: string;
  readonly #sink: ResponseSink;
  /** Undefined while the body is plain. */
  #gunzip: Gunzip | undefined;
  #receivedBytes = 0;
  #inflatedBytes = 0;
  /** True while zlib has enough to inflate. */
  #isFull = false;
  #isPaused = false;
  /** True once nothing but the end is left to deliver, or nothing at all. */
  #isOver = false;
  /** The end of what was received. */
  #received: End | undefined;
  /** The end of the response, while a pause holds it back. */
  #held: End | undefined;

  /** @param url used in error messages */
  constructor(url: string, sink: ResponseSink) {
    this.#url = url;
    this.#sink = sink;
  }

  sent(): void {
    this.#sink.sent?.();
  }

  head(status: number, headers: Record<string, string>): void {
    if (encodingOf(headers) === 'gzip') this.#gunzip = this.#open();
    this.#sink.head(status, headers);
  }

  data(chunk: Uint8Array): void {
    const gunzip = this.#gunzip;
    if (!gunzip) {
      this.#sink.data(chunk);
      return;
    }
    this.#receivedBytes += chunk.length;
    // A copy, because the connection reads the next bytes into the same memory.
    this.#isFull = !gunzip.write(Buffer.from(chunk));
    if (this.#isFull) this.http?.pause();
  }

  end(error: KubeloomError | undefined): void {
    if (!this.#gunzip) {
      this.#sink.end(error);
      return;
    }
    this.#received = { error };
    this.#gunzip.end();
  }

  pause(): void {
    this.#isPaused = true;
    this.#gunzip?.pause();
    this.http?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isFull) this.http?.resume();
    this.#gunzip?.resume();
    // Deferred, because the sink may be in the middle of a call.
    if (this.#held) queueMicrotask(() => this.#deliverEnd());
  }

  close(): void {
    this.#held = undefined;
    this.#leave();
  }

  #open(): Gunzip {
    const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
    gunzip.on('data', (piece: Buffer) => this.#inflated(piece));
    gunzip.on('drain', () => {
      this.#isFull = false;
      if (!this.#isPaused) this.http?.resume();
    });
    gunzip.on('error', (cause) => this.#finish(this.#received?.error ?? notInflated(cause, this.#url)));
    gunzip.on('end', () => {
      // zlib leaves the rest from the first zero behind a member on.
      const isWhole = gunzip.bytesWritten === this.#receivedBytes;
      const surplus = isWhole ? undefined : notInflated(new Error('bytes follow its end'), this.#url);
      this.#finish(this.#received?.error ?? surplus);
    });
    return gunzip;
  }

  #inflated(piece: Buffer): void {
    if (this.#isOver) return;
    this.#inflatedBytes += piece.length;
    if (this.#inflatedBytes <= ANY_RATIO_BYTES_MAX + RATIO_MAX * this.#receivedBytes) {
      this.#sink.data(piece);
      return;
    }
    const what = `${this.#receivedBytes} bytes are inflated to more than ${this.#inflatedBytes}`;
    this.#finish(notInflated(new Error(`${what}, as no list of objects is`), this.#url));
  }

  #finish(error: KubeloomError | undefined): void {
    if (this.#isOver) return;
    this.#leave();
    this.#held = { error };
    this.#deliverEnd();
  }

  #leave(): void {
    this.#isOver = true;
    this.#gunzip?.destroy();
    this.http?.close();
  }

  #deliverEnd(): void {
    if (!this.#held || this.#isPaused) return;
    const { error } = this.#held;
    this.#held = undefined;
    this.#sink.end(error);
  }
}
