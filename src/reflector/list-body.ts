/** The body of one page of a list: its items become deltas while it streams, its metadata an event. */
import { KubeloomError } from '../errors.ts';
import { DeltaKind } from '../record/delta.ts';
import { ListItems } from '../transport/list-items.ts';
import type { ItemSink } from '../transport/list-items.ts';
import type { Body, BodyOwner, Closable } from './body.ts';
import { endless, malformed, torn } from './failure.ts';
import { excerpt, frameBytesMax } from './object-writer.ts';
import { RESOURCE_VERSION_BYTES_MAX } from './watch-position.ts';

/** No server stores an object of this size: an item, or the space between two, that goes on beyond it has no end. */
export const ITEM_BYTES_MAX: number = 256 * 2 ** 20;

export interface ListRequest {
  /** For messages. */
  readonly where: string;
  readonly recordBytesMax: number;
}

export class ListBody implements Body, ItemSink {
  readonly progress: undefined = undefined;
  readonly #owner: BodyOwner;
  readonly #exchange: Closable;
  readonly #where: string;
  readonly #items: ListItems;
  /** What the list says of all its items, told with the first of them. */
  #hasLearned = false;
  #bytesSinceItem = 0;

  constructor(owner: BodyOwner, exchange: Closable, request: ListRequest) {
    this.#owner = owner;
    this.#exchange = exchange;
    this.#where = request.where;
    this.#items = new ListItems({ itemBytesMax: frameBytesMax(request.recordBytesMax) });
  }

  write(chunk: Buffer, start: number): number {
    const end = this.#items.write(chunk, start, this);
    this.#owner.meter.read(end - start);
    this.#bytesSinceItem += end - start;
    // Not at the end of it, which may never come.
    if (this.#items.isMalformed) this.end(undefined);
    else if (this.#bytesSinceItem > ITEM_BYTES_MAX) this.#owner.fail(endless(this.#where, ITEM_BYTES_MAX));
    return end;
  }

  end(error: KubeloomError | undefined): void {
    try {
      if (error) throw error;
      const { resourceVersion, continue: continueToken = '', remainingItemCount } = this.#items.finish();
      if (Buffer.byteLength(resourceVersion) > RESOURCE_VERSION_BYTES_MAX) {
        const quoted = JSON.stringify(resourceVersion.slice(0, RESOURCE_VERSION_BYTES_MAX));
        this.#owner.fail(malformed('a list with an unusable resourceVersion', this.#where, quoted));
      } else {
        this.#owner.meter.page(remainingItemCount);
        if (continueToken === '') this.#owner.meter.end();
        this.#owner.dispatch({ type: 'page', resourceVersion, continueToken });
      }
    } catch (cause) {
      if (!(cause instanceof KubeloomError)) throw cause;
      this.#owner.fail(torn('list', cause));
    }
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

  item(bytes: Buffer, start: number, end: number): boolean {
    if (!this.#owner.flush()) return false;
    if (this.#exchange.isClosed) return true;
    this.#learn();
    this.#bytesSinceItem = 0;
    const written = this.#owner.writer.write(DeltaKind.Replaced, bytes, start, end);
    if (written === 'written') this.#owner.meter.item();
    if (written === 'malformed') {
      this.#owner.fail(malformed('not a JSON object', this.#where, excerpt(bytes, start, end)));
    }
    return written !== 'no-room';
  }

  #learn(): void {
    if (this.#hasLearned) return;
    this.#hasLearned = true;
    this.#owner.writer.learn(this.#items.head());
  }

  oversized(bytes: Buffer, start: number, end: number): boolean {
    if (!this.#owner.flush()) return false;
    if (this.#exchange.isClosed) return true;
    this.#bytesSinceItem = 0;
    const written = this.#owner.writer.writeOversized(DeltaKind.Replaced, bytes, start, end);
    if (written === 'written') this.#owner.meter.item();
    return written !== 'no-room';
  }
}
