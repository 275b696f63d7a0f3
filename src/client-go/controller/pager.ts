/**
 * client-go's ListPager: reads a large collection in pages, as a single list or item by item. Use it in programs that
 * list by themselves; a reflector pages by the rules of list-and-watch.
 */
import { KubeloomError } from '../../base/errors.ts';
import { callback, flag, integer, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { signalOf } from '../../base/signal-options.ts';
import type { SignalOptions } from '../../base/signal-options.ts';
import type { KubeList, ListOptions } from '../../kube/lister-watcher.ts';
import { itemsOf } from '../../kube/meta.ts';
import type { ListFunction } from './list-watch.ts';
import { answerIn } from './lister-watcher-errors.ts';

const PAGE_SIZE = 500;
const PAGE_BUFFER_SIZE = 10;

/** Options of a pager. */
export interface ListPagerOptions {
  /** Items in a page, unless the options contain a limit. Default 500. */
  readonly pageSize?: number;
  /** Falls back to a single full list if the server lost the pages (`list` only). Default true. */
  readonly fullListIfExpired?: boolean;
  /** Pages that `eachListItem` fetches ahead. Default 10. */
  readonly pageBufferSize?: number;
}

const CHECKS: OptionChecks<ListPagerOptions> = {
  pageSize: integer(0),
  fullListIfExpired: flag,
  pageBufferSize: integer(0),
};

/** Lists a collection page by page. */
export class ListPager<T> {
  readonly #page: ListFunction<T>;
  readonly #pageSize: number;
  readonly #fullListIfExpired: boolean;
  readonly #bufferSize: number;

  /** @throws ERR_KUBELOOM_OPTION for a negative buffer */
  constructor(page: ListFunction<T>, options: ListPagerOptions = {}) {
    callback('page', page);
    checkOptions('options of a pager', options, CHECKS);
    const { pageSize = PAGE_SIZE, fullListIfExpired = true, pageBufferSize = PAGE_BUFFER_SIZE } = options;
    this.#page = page;
    this.#pageSize = pageSize;
    this.#fullListIfExpired = fullListIfExpired;
    this.#bufferSize = pageBufferSize;
  }

  /** Returns all items, with the resourceVersion of the first page. */
  async list(
    options: ListOptions,
    how?: SignalOptions,
  ): Promise<{ readonly list: KubeList<T>; readonly isPaginated: boolean }> {
    const signal = signalOf('list()', how) ?? new AbortController().signal;
    const items: T[] = [];
    let first: KubeList<T> | undefined;
    try {
      for await (const page of this.#pages(options, signal)) {
        if (!first && !page.metadata?.continue) return { list: page, isPaginated: false };
        first ??= page;
        for (const item of page.items) items.push(item);
      }
    } catch (error) {
      if (!first || !this.#fullListIfExpired) throw error;
      if (answerIn('list', error, 'LIST')?.kind !== 'expired') throw error;
      const { limit: _limit, continue: _continue, ...everything } = options;
      return { list: pageOf(await this.#page(everything, signal)), isPaginated: true };
    }
    const { continue: _continue, remainingItemCount: _remaining, ...metadata } = first?.metadata ?? {};
    return { list: { ...first, metadata, items }, isPaginated: true };
  }

  /**
   * Calls and awaits `visit` for each item in order, while further pages are fetched. An error of `visit` ends it at
   * once; an aborted signal ends it after the page in progress.
   */
  async eachListItem(options: ListOptions, visit: (item: T) => unknown, how?: SignalOptions): Promise<void> {
    const signal = signalOf('eachListItem()', how) ?? new AbortController().signal;
    const ending = new AbortController();
    const pages = this.#pages(options, AbortSignal.any([signal, ending.signal]));
    const ahead: Promise<IteratorResult<KubeList<T>>>[] = [];
    // Stays true after the last page or an error.
    let isFetching = false;
    const fetch = (): void => {
      if (isFetching || ahead.length > this.#bufferSize) return;
      isFetching = true;
      const page = pages.next();
      ahead.push(page);
      const fetched = ({ done }: IteratorResult<unknown>): void => {
        isFetching = done === true;
        fetch();
      };
      page.then(fetched, () => undefined);
    };
    fetch();
    try {
      for (let next = ahead.shift(); next; next = ahead.shift()) {
        const page = await next;
        if (page.done === true) return;
        fetch();
        for (const item of page.value.items) await visit(item);
        signal.throwIfAborted();
      }
    } finally {
      ending.abort();
      await Promise.allSettled(ahead);
    }
  }

  /**
   * Yields the pages. Only the first request contains the resourceVersion of the options; the token names it for the
   * others.
   */
  async *#pages(options: ListOptions, signal: AbortSignal): AsyncGenerator<KubeList<T>> {
    // 0 means no limit in the API.
    const limit = options.limit || this.#pageSize;
    const { resourceVersion: _version, resourceVersionMatch: _match, ...others } = options;
    let asked: ListOptions = { ...options, limit };
    for (;;) {
      signal.throwIfAborted();
      const page = pageOf(await this.#page(asked, signal));
      yield page;
      const token = page.metadata?.continue;
      if (!token) return;
      if (token === asked.continue) {
        const message = 'the server answered a page of the list with the continue token of that same page';
        throw new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message);
      }
      asked = { ...others, limit, continue: token };
    }
  }
}

/** Returns the page with an array of items; the items of an empty page may be null or absent. */
function pageOf<T>(page: KubeList<T>): KubeList<T> {
  const items = itemsOf(page);
  if (items) return items === page.items ? page : { ...page, items };
  const message = 'the page function of a ListPager did not return a list: items are missing';
  throw new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message);
}
