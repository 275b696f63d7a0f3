/**
 * A list without its items. Reads the few bytes before and after the items one by one, and detects where the
 * top-level member `items` opens an array. At the end the collected bytes are a small JSON text.
 */
import { KubeloomError } from '../../base/errors.ts';
import { decodeStringToken, keyEquals } from '../../kube/json/read.ts';
import { afterMember, openObject, skipString, skipValue, valueAfterKey } from '../../kube/json/skip.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A list's own metadata takes a few hundred bytes. */
const SKELETON_BYTES_MAX = 1024 * 1024;
const FIRST_BYTES = 1024;
const QUOTED_CHARACTERS_MAX = 200;

const ITEMS = Buffer.from('items');
const KIND = Buffer.from('kind');
const API_VERSION = Buffer.from('apiVersion');

export interface ListHead {
  readonly kind?: string;
  readonly apiVersion?: string;
}

export interface ListMeta extends ListHead {
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last one. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The part of a top-level member that comes next. */
type Expectation = 'key' | 'colon' | 'value' | 'rest';

export class ListSkeleton {
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The next part of a member of the top-level object. */
  #expects: Expectation = 'key';
  #keyStart = -1;
  #isItemsKey = false;
  #hasItems = false;
  #isInItems = false;
  #isClosed = false;
  #isMalformed = false;

  /** True while the array of items is open: another reader takes everything up to its closing bracket. */
  get isInItems(): boolean {
    return this.#isInItems;
  }

  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /** Reads until the items begin. @returns the index after the last byte that was taken */
  write(bytes: Buffer, start: number): number {
    this.#isInItems = false;
    for (let at = start; at < bytes.length; at++) {
      this.#take(bytes[at] ?? 0);
      if (this.#isMalformed) return bytes.length;
      if (this.#isInItems) return at + 1;
    }
    return bytes.length;
  }

  head(): ListHead {
    const head: { kind?: string; apiVersion?: string } = {};
    const bytes = this.#bytes;
    const end = this.#length;
    let at = openObject(bytes, 0, end);
    while (at >= 0 && bytes[at] === QUOTE) {
      const keyEnd = skipString(bytes, at, end);
      const value = valueAfterKey(bytes, keyEnd, end);
      const valueEnd = skipValue(bytes, value, end);
      if (valueEnd < 0) break;
      const text = decodeStringToken(bytes, value, valueEnd);
      if (text !== undefined && keyEquals(bytes, at, keyEnd, KIND)) head.kind = text;
      if (text !== undefined && keyEquals(bytes, at, keyEnd, API_VERSION)) head.apiVersion = text;
      at = afterMember(bytes, valueEnd, end);
    }
    return head;
  }

  /** @param isItemsMalformed whether the reader of the items found an error */
  finish(isItemsMalformed: boolean): ListMeta {
    if (this.#isMalformed || isItemsMalformed) throw this.#malformed('it is not valid JSON');
    if (!this.#isClosed) throw truncated();
    return this.#metaOf(this.#parse());
  }

  #take(byte: number): void {
    this.#push(byte);
    if (this.#isInString) this.#takeInString(byte);
    else if (byte === QUOTE) this.#openString();
    else if (byte > SPACE) this.#takeStructure(byte);
  }

  #takeInString(byte: number): void {
    if (this.#isEscaped) {
      this.#isEscaped = false;
    } else if (byte === BACKSLASH) {
      this.#isEscaped = true;
    } else if (byte === QUOTE) {
      this.#isInString = false;
      if (this.#depth === 1 && this.#expects === 'key') this.#closeKey();
    }
  }

  #openString(): void {
    this.#isInString = true;
    if (this.#depth === 0) this.#isMalformed = true;
    if (this.#depth !== 1) return;
    if (this.#expects === 'key') this.#keyStart = this.#length - 1;
    else if (this.#expects === 'value') this.#expects = 'rest';
    else this.#isMalformed = true;
  }

  #closeKey(): void {
    this.#isItemsKey = keyEquals(this.#bytes, this.#keyStart, this.#length, ITEMS);
    this.#expects = 'colon';
  }

  #takeStructure(byte: number): void {
    if (this.#depth === 0) {
      // A body is one object and nothing around it.
      if (byte !== OPEN_BRACE || this.#isClosed) this.#isMalformed = true;
      this.#depth = 1;
      return;
    }
    const isTopLevel = this.#depth === 1;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (isTopLevel) this.#beginValue(byte);
      this.#depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#depth--;
      if (this.#depth === 0) this.#isClosed = true;
    } else if (isTopLevel) {
      this.#takeTopLevel(byte);
    }
  }

  #takeTopLevel(byte: number): void {
    if (byte === COLON && this.#expects === 'colon') this.#expects = 'value';
    else if (byte === COMMA && this.#expects === 'rest') this.#expects = 'key';
    else if (this.#expects === 'value') this.#beginValue(byte);
    else if (this.#expects !== 'rest') this.#isMalformed = true;
  }

  #beginValue(byte: number): void {
    if (this.#expects !== 'value') {
      this.#isMalformed = true;
      return;
    }
    this.#expects = 'rest';
    if (!this.#isItemsKey || byte !== OPEN_BRACKET) return;
    // A second array of items could not be distinguished from the first.
    if (this.#hasItems) this.#isMalformed = true;
    else this.#isInItems = true;
    this.#hasItems = true;
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) this.#grow();
    this.#bytes[this.#length++] = byte;
  }

  #grow(): void {
    if (this.#length >= SKELETON_BYTES_MAX) {
      this.#isMalformed = true;
      this.#length = 0;
    }
    const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * this.#length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  #parse(): unknown {
    try {
      return JSON.parse(this.#text());
    } catch {
      // Without the cause: it quotes the text, which may be a Secret.
      throw this.#malformed('it is not valid JSON');
    }
  }

  /**
   * Returns the list's metadata. Any other answer with status 200 must not pass for an empty list: that
   * would delete every object.
   */
  #metaOf(list: unknown): ListMeta {
    if (!isRecord(list)) throw this.#malformed('it is not an object');
    const { kind, apiVersion, metadata, items } = list;
    if (kind === 'Status' || kind === 'Table') throw this.#malformed(`it is a ${kind}`);
    if (!isRecord(metadata)) throw this.#malformed('it has no metadata');
    if (typeof metadata['name'] === 'string') throw this.#malformed('it is a single object');
    if (items !== undefined && items !== null && !Array.isArray(items)) {
      throw this.#malformed('its items are not an array');
    }
    const { resourceVersion, continue: token, remainingItemCount } = metadata;
    return {
      ...(typeof kind === 'string' ? { kind } : {}),
      ...(typeof apiVersion === 'string' ? { apiVersion } : {}),
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
      ...(typeof token === 'string' && token !== '' ? { continue: token } : {}),
      ...(typeof remainingItemCount === 'number' ? { remainingItemCount } : {}),
    };
  }

  #malformed(why: string): KubeloomError {
    const text = this.#text().trimStart();
    // JSON may be a Secret; other text (a page of a proxy) is quoted because it explains itself.
    const quoted = /^[{[]/.test(text) ? 'JSON' : JSON.stringify(text.slice(0, QUOTED_CHARACTERS_MAX));
    return new KubeloomError(
      'ERR_KUBELOOM_LIST_MALFORMED',
      `the answer is no Kubernetes list: ${why}; it begins with ${quoted}. Is the server an apiserver and the path that of a resource?`,
    );
  }

  #text(): string {
    return this.#bytes.toString('utf8', 0, this.#length);
  }
}

function truncated(): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_LIST_TRUNCATED',
    'the list ended before it was complete: the connection was cut, or a proxy limits the size of answers; kubeloom lists again',
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
