/**
 * The head of an HTTP/1.1 response: status line, header fields, and the length of the body. Strict wherever
 * two parsers could read a response differently: lines end in CRLF, no folded lines, no control characters,
 * a single Content-Length of digits, no transfer coding but chunked, never both.
 */
import { FrameBuffer } from './frame-buffer.ts';

/** An apiserver's headers are below 2 KiB. */
export const HEAD_BYTES_MAX: number = 64 * 1024;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DELETE = 0x7f;
const BEGINNING = Buffer.from('HTTP/1.');
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
export const FIELD_NAME: RegExp = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** Below Number.MAX_SAFE_INTEGER. */
const CONTENT_LENGTH = /^\d{1,15}$/;
const SWITCHING_PROTOCOLS = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** The codes of malformed bytes; they become the error's errno. */
export type Malformed =
  | 'HTTP_STATUS_LINE'
  | 'HTTP_HEADER'
  | 'HTTP_HEADERS_TOO_LARGE'
  | 'HTTP_CONTENT_LENGTH'
  | 'HTTP_TRANSFER_ENCODING'
  | 'HTTP_UPGRADE'
  | 'HTTP_CHUNK_SIZE'
  | 'HTTP_CHUNK_EXTENSION'
  | 'HTTP_CHUNK_END'
  | 'HTTP_TRAILER'
  | 'HTTP_INFORMATIONAL';

/** The way in which the end of the body is found. */
export type BodyLength = number | 'chunked' | 'until-close';

export interface ResponseHead {
  readonly status: number;
  /** Names are lower case; repeated fields are joined by commas. */
  readonly headers: Record<string, string>;
  readonly bodyLength: BodyLength;
  /** Another request may follow on the same connection. */
  readonly isKeptAlive: boolean;
}

/**
 * Returns whether a byte is a control character that no line of a head, no chunk extension and no trailer
 * may contain.
 */
export function isForbidden(byte: number): boolean {
  return (byte < SPACE && byte !== TAB) || byte === DELETE;
}

/** Gathers a head byte by byte, however it is cut. Refuses malformed bytes as early as possible. */
export class HeadReader {
  readonly #bytes: FrameBuffer = new FrameBuffer(HEAD_BYTES_MAX);
  #isAfterReturn = false;
  #lineLength = 0;
  isComplete = false;

  get isEmpty(): boolean {
    return this.#bytes.totalBytes === 0;
  }

  /** @returns the first index that does not belong to the head */
  read(bytes: Buffer, start: number, end: number): number | Malformed {
    let at = start;
    while (at < end && !this.isComplete) {
      const byte = bytes[at] ?? 0;
      const position = this.#bytes.totalBytes + at - start;
      if (position >= HEAD_BYTES_MAX) return 'HTTP_HEADERS_TOO_LARGE';
      if (position < BEGINNING.length && byte !== BEGINNING[position]) return 'HTTP_STATUS_LINE';
      if (!this.#accept(byte)) return 'HTTP_HEADER';
      at++;
    }
    this.#bytes.append(bytes, start, at);
    return at;
  }

  /** Returns the complete head. The reader is ready for the next head afterwards. */
  take(): ResponseHead | Malformed {
    const text = this.#bytes.bytes.toString('latin1', 0, this.#bytes.length);
    this.#bytes.clear();
    this.isComplete = false;
    return parseHead(text);
  }

  #accept(byte: number): boolean {
    if (this.#isAfterReturn) {
      this.#isAfterReturn = false;
      this.isComplete = this.#lineLength === 0;
      this.#lineLength = 0;
      return byte === LINE_FEED;
    }
    if (byte === CARRIAGE_RETURN) this.#isAfterReturn = true;
    else if (isForbidden(byte)) return false;
    else this.#lineLength++;
    return true;
  }
}

/** @param text with the empty line at the end */
function parseHead(text: string): ResponseHead | Malformed {
  const [statusLine = '', ...lines] = text.slice(0, -'\r\n\r\n'.length).split('\r\n');
  const [, minorVersion, statusText] = STATUS_LINE.exec(statusLine) ?? [];
  if (minorVersion === undefined) return 'HTTP_STATUS_LINE';
  const status = Number(statusText);
  if (status === SWITCHING_PROTOCOLS) return 'HTTP_UPGRADE';
  const fields = fieldsOf(lines);
  if (!fields) return 'HTTP_HEADER';
  const isOld = minorVersion === '0';
  const bodyLength = bodyLengthOf(status, fields, isOld);
  if (isMalformed(bodyLength)) return bodyLength;
  return {
    status,
    // A map's entries become own properties, whatever their names: `__proto__` is a valid name.
    headers: Object.fromEntries(fields),
    bodyLength,
    isKeptAlive: !isOld && bodyLength !== 'until-close' && !isClosing(fields.get('connection')),
  };
}

function fieldsOf(lines: readonly string[]): Map<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    if (!FIELD_NAME.test(name)) return undefined;
    const value = trimmed(line, colon + 1);
    const key = name.toLowerCase();
    const before = fields.get(key);
    fields.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

/** Trims blanks at both ends. A regular expression would take quadratic time. */
function trimmed(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function bodyLengthOf(
  status: number,
  fields: ReadonlyMap<string, string>,
  isOld: boolean,
): BodyLength | Malformed {
  const coding = fields.get('transfer-encoding');
  const length = fields.get('content-length');
  // A reader of only the first or the second sees another response, which allows smuggling.
  if (coding !== undefined && length !== undefined) return 'HTTP_TRANSFER_ENCODING';
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked')) return 'HTTP_TRANSFER_ENCODING';
  // Two of them are joined by a comma and so refused, equal or not.
  if (length !== undefined && !CONTENT_LENGTH.test(length)) return 'HTTP_CONTENT_LENGTH';
  if (status < 200 || status === NO_CONTENT || status === NOT_MODIFIED) return 0;
  if (coding !== undefined) return 'chunked';
  return length === undefined ? 'until-close' : Number(length);
}

function isMalformed(length: BodyLength | Malformed): length is Malformed {
  return typeof length === 'string' && length.startsWith('HTTP_');
}

function isClosing(connection: string | undefined): boolean {
  return connection?.split(',').some((option) => option.trim().toLowerCase() === 'close') ?? false;
}
