/**
 * Splits the body of a LIST into items while it streams, at any size: the text of the whole list is
 * never built. Every byte is read once. An item inside a chunk is delivered in place, an item that spans
 * chunks is assembled first. Refusals work as in `watch-frames.ts`.
 *
 * Everything outside of the items is collected as a skeleton, `{"kind":"PodList",…,"items":[]}`, and parsed
 * at the end.
 */
import { KubeloomError } from '../base/errors.ts';
import { FrameBuffer } from './frame-buffer.ts';
import { ObjectScan } from './object-scan.ts';
import { ListSkeleton } from './list-skeleton.ts';
import type { ListHead, ListMeta } from './list-skeleton.ts';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;

/** Upper bound of an item, or of the space between two. No server stores such an object: the end would never come. */
export const ITEM_BYTES_MAX: number = 256 * 2 ** 20;

export interface ItemSink {
  /**
   * Takes an element of `items`. The bytes are valid until `item` returns.
   *
   * @returns false when there is no room: the same item is offered again
   */
  item(bytes: Buffer, start: number, end: number): boolean;
  /** Takes an item above the limit: only the first bytes are here, enough for the identity. */
  oversized(bytes: Buffer, start: number, end: number, totalBytes: number): boolean;
  /**
   * Ends the response, whose own end may never come: it cannot be a list, or contains no item within 256 MiB. Called once;
   * everything that follows is ignored, and `finish` throws this error.
   */
  unreadable(error: KubeloomError): void;
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
  /** The beginning of an incomplete item. */
  readonly #partial: FrameBuffer;
  readonly #scan: ObjectScan = new ObjectScan();
  /** The length of the refused item's rest in the chunk; 0 when no item is refused. */
  #refusedLength = 0;
  #bytesSinceItem = 0;
  #fault: KubeloomError | undefined;

  constructor(itemBytesMax: number) {
    this.#itemBytesMax = itemBytesMax;
    this.#partial = new FrameBuffer(itemBytesMax);
  }

  /**
   * @returns the index up to which the chunk was consumed: the whole length, or less when the sink refused an item
   */
  write(bytes: Buffer, start: number, sink: ItemSink): number {
    if (this.#fault) return bytes.length;
    const end = this.#read(bytes, start, sink);
    this.#bytesSinceItem += end - start;
    if (this.#place === 'malformed') this.#fault = this.#skeleton.malformed('it is not valid JSON');
    else if (this.#bytesSinceItem > ITEM_BYTES_MAX) this.#fault = endless();
    if (this.#fault) {
      this.#partial.clear();
      sink.unreadable(this.#fault);
    }
    return end;
  }

  #read(bytes: Buffer, start: number, sink: ItemSink): number {
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
    if (this.#fault) throw this.#fault;
    return this.#skeleton.finish();
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
    const end = this.#scan.find(bytes, start, bytes.length);
    if (end < 0) this.#partial.append(bytes, start, bytes.length);
    else if (this.#partial.totalBytes > 0) this.#partial.append(bytes, start, end);
    return end < 0 ? bytes.length : this.#offer(bytes, start, end, sink);
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
      this.#bytesSinceItem = 0;
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

function endless(): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_MALFORMED_RESPONSE',
    `${ITEM_BYTES_MAX / 2 ** 20} MiB without an item, more than any list has; the connection was closed and the items were dropped`,
  );
}
