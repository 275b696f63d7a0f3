/**
 * Reads a response from the bytes of a connection, however they are cut. The body is decoded in place: the
 * data between the framing of chunks is moved together, so a read of the socket becomes a single piece of data.
 * The parser overwrites the bytes and does not use them after it returns.
 *
 * Strict: a response that is not exact HTTP/1.1 is refused with a code, never guessed.
 */
import { FIELD_NAME, HeadReader, isForbidden } from './response-parser-head.ts';
import type { Malformed, ResponseHead } from './response-parser-head.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const LETTER_A = 0x61;
const LETTER_F = 0x66;
const CASE_BIT = 0x20;
const SIZE_DIGITS_MAX = 12;
/** Upper bound of a chunk's extension; servers do not send any. */
const EXTENSION_BYTES_MAX = 4096;
const TRAILER_BYTES_MAX = 64 * 1024;
const FIRST_FINAL_STATUS = 200;

/** The meaning of the next byte. */
type Place =
  | 'head'
  /** A body of known length, or a body that ends with the connection. */
  | 'plain'
  | 'size-first'
  | 'size'
  | 'extension'
  | 'size-line-feed'
  | 'data'
  | 'data-return'
  | 'data-line-feed'
  | 'trailer-start'
  | 'trailer-name'
  | 'trailer-value'
  | 'trailer-line-feed'
  | 'end-line-feed'
  | 'complete'
  | 'failed';

/** Heads with a status below 200 before the response, as in Go. */
const INFORMATIONAL_MAX = 5;

export class ResponseParser {
  /** The start of the data that the last `readBody` left. */
  dataStart = 0;
  dataEnd = 0;
  failure: Malformed | undefined;
  readonly #head: HeadReader = new HeadReader();
  #place: Place = 'head';
  #remaining = 0;
  #informational = 0;
  /** Digits of a size, bytes of an extension or of the trailer. */
  #counted = 0;
  #isKeptAlive = false;
  #endsWithConnection = false;

  get isInHead(): boolean {
    return this.#place === 'head';
  }

  get isComplete(): boolean {
    return this.#place === 'complete';
  }

  /** True until the first byte of a response. */
  get isUntouched(): boolean {
    return this.#place === 'head' && this.#head.isEmpty;
  }

  /** True when the response is complete and the connection may serve a further response. */
  get isReusable(): boolean {
    return this.isComplete && this.#isKeptAlive;
  }

  /**
   * Reads the head and skips those with a status below 200.
   *
   * @param onHead called at most once per parser
   * @returns the first index that was not taken
   */
  readHead(bytes: Buffer, start: number, end: number, onHead: (head: ResponseHead) => void): number {
    let at = start;
    while (at < end && this.#place === 'head') {
      const read = this.#head.read(bytes, at, end);
      if (typeof read === 'string') {
        this.#place = this.#refuse(read);
        return at;
      }
      at = read;
      if (!this.#head.isComplete) continue;
      const head = this.#head.take();
      if (typeof head === 'string') this.#place = this.#refuse(head);
      if (typeof head === 'string') continue;
      if (head.status < FIRST_FINAL_STATUS) {
        if (++this.#informational > INFORMATIONAL_MAX) this.#place = this.#refuse('HTTP_INFORMATIONAL');
        continue;
      }
      this.#begin(head);
      onHead(head);
    }
    return at;
  }

  /**
   * Decodes bytes of the body; afterwards [dataStart, dataEnd) is data.
   *
   * @returns the first index that was not taken: `end` unless the response is complete or failed
   */
  readBody(bytes: Buffer, start: number, end: number): number {
    let at = start;
    this.dataStart = start;
    this.dataEnd = start;
    while (at < end) {
      if (this.#place === 'data' || this.#place === 'plain') at = this.#readData(bytes, at, end);
      else if (this.#place === 'complete' || this.#place === 'failed') return at;
      else this.#place = this.#placeAfter(bytes[at++] ?? 0);
    }
    return at;
  }

  /** Ends the response with the connection. @returns whether the response is complete */
  finish(): boolean {
    if (this.#endsWithConnection && this.#place === 'plain') this.#place = 'complete';
    return this.isComplete;
  }

  #begin({ bodyLength, isKeptAlive }: ResponseHead): void {
    this.#isKeptAlive = isKeptAlive;
    if (bodyLength === 'chunked') {
      this.#place = 'size-first';
      return;
    }
    this.#endsWithConnection = bodyLength === 'until-close';
    this.#remaining = bodyLength === 'until-close' ? Number.POSITIVE_INFINITY : bodyLength;
    this.#place = bodyLength === 0 ? 'complete' : 'plain';
  }

  #readData(bytes: Buffer, start: number, end: number): number {
    const length = Math.min(this.#remaining, end - start);
    if (this.dataEnd === this.dataStart) this.dataStart = this.dataEnd = start;
    else bytes.copyWithin(this.dataEnd, start, start + length);
    this.dataEnd += length;
    this.#remaining -= length;
    if (this.#remaining === 0) this.#place = this.#place === 'data' ? 'data-return' : 'complete';
    return start + length;
  }

  #placeAfter(byte: number): Place {
    switch (this.#place) {
      case 'size-first':
        this.#remaining = 0;
        this.#counted = 0;
        return this.#sizeDigit(byte);
      case 'size':
        if (byte === CARRIAGE_RETURN) return 'size-line-feed';
        if (byte !== SEMICOLON) return this.#sizeDigit(byte);
        this.#counted = 0;
        return 'extension';
      case 'extension':
        if (byte === CARRIAGE_RETURN) return 'size-line-feed';
        return this.#isLineByte(byte, EXTENSION_BYTES_MAX)
          ? 'extension'
          : this.#refuse('HTTP_CHUNK_EXTENSION');
      case 'size-line-feed':
        if (byte !== LINE_FEED) return this.#refuse('HTTP_CHUNK_SIZE');
        this.#counted = 0;
        return this.#remaining === 0 ? 'trailer-start' : 'data';
      case 'data-return':
        return byte === CARRIAGE_RETURN ? 'data-line-feed' : this.#refuse('HTTP_CHUNK_END');
      case 'data-line-feed':
        return byte === LINE_FEED ? 'size-first' : this.#refuse('HTTP_CHUNK_END');
      default:
        return this.#placeInTrailer(byte);
    }
  }

  /** Skips trailers and checks their syntax. */
  #placeInTrailer(byte: number): Place {
    switch (this.#place) {
      case 'trailer-start':
        return byte === CARRIAGE_RETURN ? 'end-line-feed' : this.#trailerName(byte);
      case 'trailer-name':
        return byte === COLON ? 'trailer-value' : this.#trailerName(byte);
      case 'trailer-value':
        if (byte === CARRIAGE_RETURN) return 'trailer-line-feed';
        return this.#isLineByte(byte, TRAILER_BYTES_MAX) ? 'trailer-value' : this.#refuse('HTTP_TRAILER');
      case 'trailer-line-feed':
        return byte === LINE_FEED ? 'trailer-start' : this.#refuse('HTTP_TRAILER');
      default:
        return byte === LINE_FEED ? 'complete' : this.#refuse('HTTP_TRAILER');
    }
  }

  #trailerName(byte: number): Place {
    const isName = FIELD_NAME.test(String.fromCharCode(byte)) && this.#isLineByte(byte, TRAILER_BYTES_MAX);
    return isName ? 'trailer-name' : this.#refuse('HTTP_TRAILER');
  }

  #sizeDigit(byte: number): Place {
    const digit = hexDigit(byte);
    if (digit < 0 || ++this.#counted > SIZE_DIGITS_MAX) return this.#refuse('HTTP_CHUNK_SIZE');
    this.#remaining = this.#remaining * 16 + digit;
    return 'size';
  }

  #isLineByte(byte: number, bytesMax: number): boolean {
    return !isForbidden(byte) && ++this.#counted <= bytesMax;
  }

  #refuse(failure: Malformed): 'failed' {
    this.failure = failure;
    return 'failed';
  }
}

function hexDigit(byte: number): number {
  if (byte >= DIGIT_0 && byte <= DIGIT_9) return byte - DIGIT_0;
  const letter = byte | CASE_BIT;
  return letter >= LETTER_A && letter <= LETTER_F ? letter - LETTER_A + 10 : -1;
}
