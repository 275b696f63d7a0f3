/**
 * client-go's ListPager: reads a large collection in pages, as one list or item by item. For programs that list
 * by themselves; a reflector pages by its own rules.
 */
import { KubeloomError } from '../../base/errors.ts';
import type { KubeList, ListOptions } from '../../kube/list-watch.ts';
import type { ListFunction } from './list-watch.ts';
import { answerIn } from './lister-watcher-errors.ts';

const PAGE_SIZE = 500;
const PAGE_BUFFER_SIZE = 10;

export interface ListPagerOptions {
  /** Items in a page, unless the options have a limit. Default 500. */
  readonly pageSize?: number;
  /** Falls back to one full list when the server has lost the pages (`list` only). Default true. */
  readonly fullListIfExpired?: boolean;
  /** Pages that `eachListItem` fetches ahead. Default 10. */
  readonly pageBufferSize?: number;
}

export class ListPager<T> {
  readonly #page: ListFunction<T>;
  readonly #pageSize: number;
  readonly #fullListIfExpired: boolean;
  readonly #bufferSize: number;

  /** @throws ERR_KUBELOOM_OPTION for a negative buffer */
  constructor(page: ListFunction<T>, options: ListPagerOptions = {}) {
    const { pageSize = PAGE_SIZE, fullListIfExpired = true, pageBufferSize = PAGE_BUFFER_SIZE } = options;
    if (!(pageBufferSize >= 0)) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OPTION',
        `pageBufferSize must not be negative: ${pageBufferSize}`,
      );
    }
    this.#page = page;
    this.#pageSize = pageSize;
    this.#fullListIfExpired = fullListIfExpired;
    this.#bufferSize = pageBufferSize;
  }

  /** Returns all items, with the resourceVersion of the first page. */
  async list(
    options: ListOptions,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<{ readonly list: KubeList<T>; readonly isPaginated: boolean }> {
    const items: T[] = [];
    let first: KubeList<T> | undefined;
    try {
      for await (const page of this.#pages(options, signal)) {
        if (!first && !page.metadata?.continue) return { list: page, isPaginated: false };
        first ??= page;
        for (const item of page.items) items.push(item);
      }
    } catch (error) {
      if (!first || !this.#fullListIfExpired || !isExpired(error)) throw error;
      const { limit: _limit, continue: _continue, ...everything } = options;
      return { list: await this.#page(everything, signal), isPaginated: true };
    }
    const { continue: _continue, remainingItemCount: _remaining, ...metadata } = first?.metadata ?? {};
    return { list: { ...first, metadata, items }, isPaginated: true };
  }

  /**
   * Calls and awaits `visit` for one item after the other, while further pages are fetched. An error of `visit`
   * ends it at once; an aborted signal ends it after the page in progress.
   */
  async eachListItem(
    options: ListOptions,
    visit: (item: T) => unknown,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<void> {
    const ending = new AbortController();
    const ahead = new PagesAhead<T>(this.#bufferSize);
    const fetching = ahead.fill(this.#pages(options, AbortSignal.any([signal, ending.signal])));
    try {
      for (let page = await ahead.take(); page; page = await ahead.take()) {
        for (const item of page.items) await visit(item);
        signal.throwIfAborted();
      }
    } finally {
      ending.abort();
      ahead.close();
      await fetching;
    }
  }

  /** Yields the pages. Only the first has the resourceVersion of the options; the token names it for the others. */
  async *#pages(options: ListOptions, signal: AbortSignal): AsyncGenerator<KubeList<T>> {
    // 0 means no limit in the API.
    const limit = options.limit || this.#pageSize;
    const { resourceVersion: _version, resourceVersionMatch: _match, ...others } = options;
    let asked: ListOptions = { ...options, limit };
    for (;;) {
      signal.throwIfAborted();
      const page = await this.#page(asked, signal);
      yield page;
      const token = page.metadata?.continue;
      if (!token) return;
      if (token === asked.continue) throw noProgress();
      asked = { ...others, limit, continue: token };
    }
  }
}

/** Pages between the loop that fetches them and the loop that visits their items. */
class PagesAhead<T> {
  readonly #max: number;
  readonly #pages: KubeList<T>[] = [];
  #end: { readonly error?: unknown } | undefined;
  #changed: () => void = () => undefined;
  #isClosed = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** Fetches all pages. Never rejects: `take` throws the error. */
  async fill(pages: AsyncIterable<KubeList<T>>): Promise<void> {
    try {
      for await (const page of pages) {
        this.#pages.push(page);
        this.#changed();
        while (this.#pages.length > this.#max && !this.#isClosed) await this.#change();
        if (this.#isClosed) return;
      }
      this.#end = {};
    } catch (error) {
      this.#end = { error };
    }
    this.#changed();
  }

  /** Returns the next page; undefined after the last one. */
  async take(): Promise<KubeList<T> | undefined> {
    while (this.#pages.length === 0 && !this.#end) await this.#change();
    const page = this.#pages.shift();
    this.#changed();
    if (!page && this.#end && 'error' in this.#end) throw this.#end.error;
    return page;
  }

  close(): void {
    this.#isClosed = true;
    this.#changed();
  }

  /** Waits for a change. Only one side waits at any time: the visitor for pages, or the fetcher for room. */
  #change(): Promise<void> {
    return new Promise((resolve) => (this.#changed = resolve));
  }
}

function isExpired(error: unknown): boolean {
  return answerIn('list', error, 'LIST')?.kind === 'expired';
}

function noProgress(): KubeloomError {
  return new KubeloomError(
    'ERR_KUBELOOM_LIST_NO_PROGRESS',
    'the server answered a page of the list with the continue token of that same page',
  );
}
