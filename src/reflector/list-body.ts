/**
 * The body of one page of a list: items become deltas while the page streams, and the metadata becomes an event.
 */
import { KubeloomError } from '../base/errors.ts';
import { ActivityCounter } from '../shared/activity.ts';
import { DeltaKind } from '../shared/record/delta.ts';
import { ListItems } from '../http/list-items.ts';
import type { ItemSink } from '../http/list-items.ts';
import type { Body, SessionResponse, ResponseOwner } from './session-response.ts';
import { malformed, torn, versionTooLong } from './rules/failure.ts';
import { excerpt, frameBytesMax } from './object-writer.ts';

export class ListBody implements Body, ItemSink {
  readonly #owner: ResponseOwner;
  readonly #exchange: SessionResponse;
  readonly #where: string;
  readonly #items: ListItems;
  #hasLearned = false;

  /** @param where used in error messages */
  constructor(owner: ResponseOwner, exchange: SessionResponse, where: string) {
    this.#owner = owner;
    this.#exchange = exchange;
    this.#where = where;
    this.#items = new ListItems(frameBytesMax(owner.spec.objectBytesMax));
  }

  write(chunk: Buffer, start: number): number {
    const end = this.#items.write(chunk, start, this);
    this.#owner.meter.read(end - start);
    (this.#owner.counts[ActivityCounter.ListBytes] as number) += end - start;
    return end;
  }

  end(error: KubeloomError | undefined): void {
    try {
      if (error) throw error;
      const { resourceVersion, continue: continueToken = '', ...meta } = this.#items.finish();
      const { meter, writer } = this.#owner;
      const versionBytes = Buffer.byteLength(resourceVersion);
      if (versionBytes > writer.versionBytesMax) {
        this.#owner.fail(versionTooLong(this.#where, versionBytes, writer.versionBytesMax));
      } else {
        meter.page(meta.remainingItemCount);
        writer.shardFilter?.page(meta.isShardEchoed === true);
        if (continueToken === '') {
          meter.end();
          writer.shardFilter?.endList();
        }
        this.#owner.dispatch({ type: 'page', resourceVersion, continueToken });
      }
    } catch (cause) {
      if (!(cause instanceof KubeloomError)) throw cause;
      this.#owner.fail(torn('list', cause));
    }
  }

  item(bytes: Buffer, start: number, end: number): boolean {
    if (!this.#owner.flush()) return false;
    if (this.#exchange.isClosed) return true;
    if (!this.#hasLearned) this.#owner.writer.learn(this.#items.head());
    this.#hasLearned = true;
    const written = this.#owner.writer.write(DeltaKind.Replaced, bytes, start, end);
    if (written === 'written') this.#owner.meter.items++;
    if (written === 'malformed') {
      this.#owner.fail(malformed('not a JSON object', this.#where, excerpt(bytes, start, end)));
    }
    return written !== 'no-room';
  }

  oversized(bytes: Buffer, start: number, end: number): boolean {
    if (!this.#owner.flush()) return false;
    if (this.#exchange.isClosed) return true;
    const written = this.#owner.writer.writeOversized(DeltaKind.Replaced, bytes, start, end);
    if (written === 'written') this.#owner.meter.items++;
    return written !== 'no-room';
  }

  unreadable(error: KubeloomError): void {
    this.#owner.fail(torn('list', error));
  }
}
