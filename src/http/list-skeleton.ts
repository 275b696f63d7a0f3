/** A list without items: the few bytes before and after the items. At the end they are a small JSON text. */
import { KubeloomError } from '../base/errors.ts';
import { parseJson } from '../base/parse-json.ts';
import { quotableText } from '../base/quotable.ts';
import { isRecord } from '../kube/meta-shape.ts';
import { FrameBuffer } from './frame-buffer.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** `c | CASE_BIT` maps `[` to `{` and `]` to `}`. */
const CASE_BIT = 0x20;

/** A list's own metadata takes a few hundred bytes. */
const SKELETON_BYTES_MAX = 1024 * 1024;

export interface ListHead {
  readonly kind?: string;
  readonly apiVersion?: string;
}

export interface ListMeta extends ListHead {
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
  /** True when the server repeats the shard selector by which it filtered. */
  readonly isShardEchoed?: boolean;
}

export class ListSkeleton {
  /** True while the array of items is open: another reader takes everything up to the closing bracket. */
  isInItems = false;
  isMalformed = false;
  head: ListHead = {};
  readonly #text = new FrameBuffer(SKELETON_BYTES_MAX);
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasItems = false;
  #isClosed = false;
  /** The start of the last string of the top-level object: of a key, when an array follows. */
  #keyStart = 0;

  /** Reads until the items begin. @returns the index after the last byte that was taken */
  write(bytes: Buffer, start: number): number {
    this.isInItems = false;
    let kept = start;
    for (let at = start; at < bytes.length && !this.isMalformed; at++) {
      if (!this.#opensArray(bytes[at] ?? 0, this.#text.totalBytes + at - kept)) continue;
      this.#text.append(bytes, kept, at + 1);
      kept = at + 1;
      this.#beginArray();
      if (this.isInItems) return at + 1;
    }
    this.#text.append(bytes, kept, bytes.length);
    if (this.#text.totalBytes > SKELETON_BYTES_MAX) this.isMalformed = true;
    return bytes.length;
  }

  finish(): ListMeta {
    if (!this.#isClosed) throw truncated();
    return this.#metaOf(this.#parse(this.#read()));
  }

  /** Takes a byte. @returns whether it opens an array that is the value of a top-level member */
  #opensArray(byte: number, position: number): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInString = false;
    } else if (this.#depth === 0) {
      // A body is a single object and no more.
      if (byte > SPACE && (byte !== OPEN_BRACE || this.#isClosed)) this.isMalformed = true;
      if (byte === OPEN_BRACE) this.#depth = 1;
    } else if (byte === QUOTE) {
      this.#isInString = true;
      if (this.#depth === 1) this.#keyStart = position;
    } else if ((byte | CASE_BIT) === OPEN_BRACE) {
      this.#depth++;
    } else if ((byte | CASE_BIT) === CLOSE_BRACE) {
      this.#depth--;
      this.#isClosed = this.#depth === 0;
    }
    return byte === OPEN_BRACKET && !this.#isInString && this.#depth === 2;
  }

  #beginArray(): void {
    try {
      const member = this.#parse(`{${this.#read(this.#keyStart)}]}`);
      if (!isRecord(member) || member['items'] === undefined) return;
      this.isInItems = true;
      // A second array of items could not be distinguished from the first.
      if (this.#hasItems) this.isMalformed = true;
      this.#hasItems = true;
      this.head = headOf(this.#parse(`${this.#read()}]}`));
    } catch {
      this.isMalformed = true;
    }
  }

  #parse(text: string): unknown {
    const value = parseJson(text);
    if (value === undefined) throw this.malformed('it is not valid JSON');
    return value;
  }

  /**
   * Returns the list's metadata. Any other answer with status 200 must not pass for an empty list: that
   * would delete every object.
   */
  #metaOf(list: unknown): ListMeta {
    if (!isRecord(list)) throw this.malformed('it is not an object');
    const { kind, metadata, items } = list;
    if (kind === 'Status' || kind === 'Table') throw this.malformed(`it is a ${kind}`);
    if (!isRecord(metadata) || Array.isArray(metadata)) throw this.malformed('it has no metadata');
    if (typeof metadata['name'] === 'string') throw this.malformed('it is a single object');
    if (items !== undefined && items !== null && !(Array.isArray(items) && items.length === 0)) {
      throw this.malformed('its items are not an array');
    }
    const { resourceVersion, continue: token, remainingItemCount, shardInfo } = metadata;
    return {
      ...headOf(list),
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
      ...(typeof token === 'string' && token !== '' ? { continue: token } : {}),
      ...(typeof remainingItemCount === 'number' ? { remainingItemCount } : {}),
      ...(isRecord(shardInfo) && shardInfo['selector'] ? { isShardEchoed: true } : {}),
    };
  }

  malformed(why: string): KubeloomError {
    const text = quotableText(this.#read());
    const quoted = text === undefined ? 'JSON' : JSON.stringify(text);
    return new KubeloomError(
      'ERR_KUBELOOM_MALFORMED_RESPONSE',
      `the answer is not a Kubernetes list: ${why}; it begins with ${quoted}. Is the server an apiserver, and does the path lead to a resource?`,
    );
  }

  #read(start = 0): string {
    return this.#text.bytes.toString('utf8', start, this.#text.length);
  }
}

function headOf(list: unknown): ListHead {
  const { kind, apiVersion } = isRecord(list) ? list : {};
  return {
    ...(typeof kind === 'string' ? { kind } : {}),
    ...(typeof apiVersion === 'string' ? { apiVersion } : {}),
  };
}

function truncated(): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_TRUNCATED',
    'the list ended before it was complete: the connection was cut, or a proxy limits the size of answers; kubeloom lists again',
  );
}
