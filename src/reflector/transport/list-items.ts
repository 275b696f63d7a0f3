/**
 * Splits the body of a LIST into its items while it streams, at any size: the text of the whole list is
 * never built. Every byte is read once. An item inside one chunk is delivered in place, one that spans
 * chunks is assembled first. Refusals work as in `watch-frames.ts`.
 *
 * Everything outside of the items is collected as a skeleton, `{"kind":"PodList",…,"items":[]}`, and parsed
 * at the end.
 */
import { KubeloomError } from '../../base/errors.ts';
import { skipStringTail, wideView } from '../../kube/json/skip.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import { FrameBuffer } from './frame-buffer.ts';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** `c | CASE_BIT` maps `[` to `{` and `]` to `}`. */
const CASE_BIT = 0x20;

/** A list's own metadata takes a few hundred bytes. */
const SKELETON_BYTES_MAX = 1024 * 1024;
const QUOTED_CHARACTERS_MAX = 200;

export interface ListHead {
  readonly kind?: string;
  readonly apiVersion?: string;
}

export interface ListMeta extends ListHead {
  readonly resourceVersion: string;
  /** Token of the next page; absent on the last one. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
  /** True when the server repeats the shard selector by which it has filtered. */
  readonly isShardEchoed?: boolean;
}

export interface ItemSink {
  /**
   * Takes one element of `items`. The bytes are valid until `item` returns.
   *
   * @returns false when there is no room: the same item is offered again
   */
  item(bytes: Buffer, start: number, end: number): boolean;
  /** Takes an item above the limit: only its first bytes are here, enough for its identity. */
  oversized(bytes: Buffer, start: number, end: number, totalBytes: number): boolean;
}

/** The place that the next byte belongs to. */
type Place =
  /** Outside of `items`. */
  | 'skeleton'
  /** In `items`, before the first item: an item or the end may come. */
  | 'first-item'
  /** After a comma: an item must come. */
  | 'next-item'
  /** After an item: a comma or the end must come. */
  | 'after-item'
  | 'item'
  | 'malformed';

export class ListItems {
  readonly #itemBytesMax: number;
  readonly #skeleton = new ListSkeleton();
  #place: Place = 'skeleton';
  /** The beginning of an item whose end has not come. */
  readonly #partial: FrameBuffer;
  // The state of an item's scan between two chunks.
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The length of the refused item's rest in the chunk; 0 when no item is refused. */
  #refusedLength = 0;

  constructor(itemBytesMax: number) {
    this.#itemBytesMax = itemBytesMax;
    this.#partial = new FrameBuffer(itemBytesMax);
  }

  /**
   * @returns the index up to which the chunk was consumed: its length, or less when the sink refused an item
   */
  write(bytes: Buffer, start: number, sink: ItemSink): number {
    let at = start;
    if (this.#refusedLength > 0 && at < bytes.length) {
      at = this.#offer(bytes, at, at + this.#refusedLength, sink);
      if (this.#refusedLength > 0) return at;
    }
    while (at < bytes.length) {
      switch (this.#place) {
        case 'skeleton':
          at = this.#readSkeleton(bytes, at);
          break;
        case 'item':
          at = this.#readItem(bytes, at, sink);
          if (this.#refusedLength > 0) return at;
          break;
        case 'malformed':
          return bytes.length;
        default:
          at = this.#readBetweenItems(bytes, at);
      }
    }
    return at;
  }

  /** True when the body cannot be a list; `finish` throws the reason. */
  get isMalformed(): boolean {
    return this.#place === 'malformed';
  }

  /** Returns the kind and apiVersion that precede the items; in Go's field order both do. */
  head(): ListHead {
    return this.#skeleton.head;
  }

  /**
   * Ends the body.
   *
   * @throws ERR_KUBELOOM_TRUNCATED when it is incomplete, ERR_KUBELOOM_MALFORMED_RESPONSE when it is no
   *   list
   */
  finish(): ListMeta {
    return this.#skeleton.finish(this.#place === 'malformed');
  }

  #readSkeleton(bytes: Buffer, start: number): number {
    const end = this.#skeleton.write(bytes, start);
    if (this.#skeleton.isMalformed) this.#place = 'malformed';
    else if (this.#skeleton.isInItems) this.#place = 'first-item';
    return end;
  }

  #readBetweenItems(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB) continue;
      this.#place = this.#placeAfter(byte);
      // An item's first brace is read with the item; the bracket closes the skeleton's array.
      if (this.#place === 'item' || this.#place === 'skeleton') return at;
      if (this.#place === 'malformed') return bytes.length;
    }
    return bytes.length;
  }

  #placeAfter(byte: number | undefined): Place {
    if (this.#place === 'after-item') {
      if (byte === COMMA) return 'next-item';
    } else if (byte === OPEN_BRACE) {
      return 'item';
    }
    return byte === CLOSE_BRACKET && this.#place !== 'next-item' ? 'skeleton' : 'malformed';
  }

  /** Reads to the item's end and offers it. @returns the next index */
  #readItem(bytes: Buffer, start: number, sink: ItemSink): number {
    const end = this.#scanItem(bytes, start);
    if (end < 0) this.#partial.append(bytes, start, bytes.length);
    else if (this.#partial.totalBytes > 0) this.#partial.append(bytes, start, end);
    return end < 0 ? bytes.length : this.#offer(bytes, start, end, sink);
  }

  /** Scans depth and strings only. @returns the index after the item, or -1 when the chunk ends first */
  #scanItem(bytes: Buffer, start: number): number {
    const view = wideView(bytes);
    const end = bytes.length;
    let depth = this.#depth;
    let at = start;
    if (this.#isInString) {
      at = skipStringTail(bytes, view, this.#isEscaped ? start + 1 : start, end);
      if (at < 0) return this.#suspendInString(bytes, start, depth);
    }
    while (at < end) {
      const byte = bytes[at++] ?? 0;
      if (byte === QUOTE) {
        const string = at;
        at = skipStringTail(bytes, view, string, end);
        if (at < 0) {
          this.#isEscaped = false;
          return this.#suspendInString(bytes, string, depth);
        }
      } else if (byte >= OPEN_BRACKET) {
        // Letters of true, false and null come here too and match neither.
        const folded = byte | CASE_BIT;
        if (folded === OPEN_BRACE) depth++;
        else if (folded === CLOSE_BRACE && --depth === 0) {
          this.#resumeOutside(0);
          return at;
        }
      }
    }
    this.#resumeOutside(depth);
    return -1;
  }

  #resumeOutside(depth: number): void {
    this.#depth = depth;
    this.#isInString = false;
    this.#isEscaped = false;
  }

  /**
   * Keeps the state of a string that the chunk's end cuts: an odd number of backslashes escapes the next
   * byte.
   */
  #suspendInString(bytes: Buffer, start: number, depth: number): number {
    let first = bytes.length;
    while (first > start && bytes[first - 1] === BACKSLASH) first--;
    let backslashes = bytes.length - first;
    // The last byte of the previous chunk escaped the first byte of this one.
    if (first === start && this.#isEscaped && backslashes > 0) backslashes--;
    this.#depth = depth;
    this.#isInString = true;
    this.#isEscaped = backslashes % 2 === 1;
    return -1;
  }

  /** Offers the item that ends at `end`. @returns the next index: `end`, or where to offer the item again */
  #offer(bytes: Buffer, start: number, end: number, sink: ItemSink): number {
    const partial = this.#partial;
    const isAssembled = partial.totalBytes > 0;
    const isTaken = isAssembled
      ? this.#give(partial.bytes, 0, partial.totalBytes, sink)
      : this.#give(bytes, start, end - start, sink);
    if (isTaken) {
      this.#refusedLength = 0;
      partial.clear();
      this.#place = 'after-item';
      return end;
    }
    // Not the end: a chunk with an item still to offer must not look consumed.
    const again = isAssembled ? end - 1 : start;
    this.#refusedLength = end - again;
    return again;
  }

  #give(bytes: Buffer, start: number, totalBytes: number, sink: ItemSink): boolean {
    if (totalBytes <= this.#itemBytesMax) return sink.item(bytes, start, start + totalBytes);
    return sink.oversized(bytes, start, start + this.#itemBytesMax, totalBytes);
  }
}

/** A list without its items: the few bytes before and after them. At the end they are a small JSON text. */
class ListSkeleton {
  /** True while the array of items is open: another reader takes everything up to its closing bracket. */
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

  /** @param isItemsMalformed whether the reader of the items found an error */
  finish(isItemsMalformed: boolean): ListMeta {
    if (this.isMalformed || isItemsMalformed) throw this.#malformed('it is not valid JSON');
    if (!this.#isClosed) throw truncated();
    return this.#metaOf(this.#parse(this.#read()));
  }

  /** Takes one byte. @returns whether it opens an array that is the value of a top-level member */
  #opensArray(byte: number, position: number): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInString = false;
    } else if (this.#depth === 0) {
      // A body is one object and nothing around it.
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
    try {
      return JSON.parse(text);
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
    const { kind, metadata, items } = list;
    if (kind === 'Status' || kind === 'Table') throw this.#malformed(`it is a ${kind}`);
    if (!isRecord(metadata) || Array.isArray(metadata)) throw this.#malformed('it has no metadata');
    if (typeof metadata['name'] === 'string') throw this.#malformed('it is a single object');
    if (items !== undefined && items !== null && !(Array.isArray(items) && items.length === 0)) {
      throw this.#malformed('its items are not an array');
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

  #malformed(why: string): KubeloomError {
    const text = this.#read().trimStart();
    // JSON may be a Secret; other text (a page of a proxy) is quoted because it explains itself.
    const quoted = /^[{[]/.test(text) ? 'JSON' : JSON.stringify(text.slice(0, QUOTED_CHARACTERS_MAX));
    return new KubeloomError(
      'ERR_KUBELOOM_MALFORMED_RESPONSE',
      `the answer is no Kubernetes list: ${why}; it begins with ${quoted}. Is the server an apiserver and the path that of a resource?`,
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
