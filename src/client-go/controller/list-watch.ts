/** client-go's ListWatch: a ListerWatcher made of two functions, or of requests to an apiserver on the calling thread. */
import { disown, isThenable } from '../../base/thenable.ts';
import { KubeloomError } from '../../base/errors.ts';
import { parseJson } from '../../base/parse-json.ts';
import type { KubeList, ListOptions, ListerWatcher, Watch, WatchEvent } from '../../kube/lister-watcher.ts';
import { isRecord } from '../../kube/meta-shape.ts';
import { callback, flag, text, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { apiVersionOf, resourcePath, checkResource } from '../../kube/resource.ts';
import type { ResourceOf } from '../../kube/resource.ts';
import { ApiClient } from '../../http/api-client.ts';
import type { ResponseReader } from '../../http/api-client.ts';
import type { HttpExchange } from '../../http/http.ts';
import { ListItems } from '../../http/list-items.ts';
import type { ItemSink } from '../../http/list-items.ts';
import { WatchFrames } from '../../http/watch-frames.ts';
import type { FrameSink } from '../../http/watch-frames.ts';
import { queryOf } from '../../kube/lister-watcher.ts';
import type { ServerSource } from '../../kube/server-source.ts';
import type { ExpectedType } from './expected-type.ts';

/** An apiserver may work on a list for a minute before it answers or times out. */
const LIST_SILENCE_MAX_MS = 90_000;
/** The longest object; a server stores a few MiB. */
const OBJECT_BYTES_MAX = 64 * 2 ** 20;

/** Lists a collection; the signal ends the request. */
export type ListFunction<T> = (options: ListOptions, signal: AbortSignal) => Promise<KubeList<T>>;
/** Watches a collection; the signal ends the request. */
export type WatchFunction<T> = (options: ListOptions, signal: AbortSignal) => Promise<Watch<T>>;

/** Functions that list and watch. */
export interface ListWatchFunctions<T> {
  /** Requests a list, or a page of it. */
  readonly list: ListFunction<T>;
  /** Opens a watch: resolves when the server accepted it. */
  readonly watch: WatchFunction<T>;
  /** True when streaming lists must not be tried: for fakes, and clients without support for them. */
  readonly isWatchListUnsupported?: boolean;
  /** Present as in client-go, where it is unused too: the reflector decides about paging. */
  readonly disableChunking?: boolean;
}

const CHECKS: OptionChecks<ListWatchFunctions<unknown>> = {
  list: callback,
  watch: callback,
  isWatchListUnsupported: flag,
  disableChunking: flag,
};

/** client-go's ListWatch: lists and watches by two functions. */
export class ListWatch<T> implements ListerWatcher<T> {
  /** The given `isWatchListUnsupported`. Default: false. */
  readonly isWatchListUnsupported: boolean;
  /** The given `disableChunking`. Default: false. */
  readonly disableChunking: boolean;
  readonly #functions: ListWatchFunctions<T>;

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(functions: ListWatchFunctions<T>) {
    checkOptions('functions of a ListWatch', functions, CHECKS as OptionChecks<ListWatchFunctions<T>>);
    this.#functions = functions;
    this.isWatchListUnsupported = functions.isWatchListUnsupported ?? false;
    this.disableChunking = functions.disableChunking ?? false;
  }

  /** Calls the given `list`. Without a signal the request cannot be ended. */
  list(options: ListOptions, signal: AbortSignal = new AbortController().signal): Promise<KubeList<T>> {
    return this.#functions.list(options, signal);
  }

  /** Calls the given `watch`. Without a signal, `stop` or leaving the iteration ends the watch. */
  watch(options: ListOptions, signal: AbortSignal = new AbortController().signal): Promise<Watch<T>> {
    return this.#functions.watch(options, signal);
  }
}

/** Changes the options of every request. An error fails the request. */
export type OptionsModifier = (options: ListOptions) => ListOptions;

/**
 * Returns a ListWatch of a resource on an apiserver.
 *
 * @param namespace '' for all
 * @param fieldSelector `spec.nodeName=node-7`; '' for everything
 */
export function newListWatchFromClient<T>(
  source: ServerSource,
  resource: ResourceOf<T>,
  namespace = '',
  fieldSelector = '',
): ListWatch<T> {
  text('fieldSelector', fieldSelector);
  return newFilteredListWatchFromClient(source, resource, namespace, (options) =>
    fieldSelector === '' ? options : { ...options, fieldSelector },
  );
}

/** Returns a ListWatch of a resource whose requests the modifier changes. */
export function newFilteredListWatchFromClient<T>(
  source: ServerSource,
  resource: ResourceOf<T>,
  namespace: string,
  optionsModifier: OptionsModifier,
): ListWatch<T> {
  checkResource(resource);
  callback('optionsModifier', optionsModifier);
  const client = new ApiClient(source);
  const base = resourcePath(resource, namespace);
  const type = { kind: resource.kind, apiVersion: apiVersionOf(resource) };
  const pathOf = (options: ListOptions, more: Readonly<Record<string, string>>): string => {
    const modified = optionsModifier(options);
    // A promise would count as empty options.
    disown(modified);
    if (isThenable(modified))
      throw new KubeloomError('ERR_KUBELOOM_OPTION', 'the options modifier returned a promise');
    const query = new URLSearchParams({ ...queryOf(modified), ...more }).toString();
    return query === '' ? base : `${base}?${query}`;
  };
  return new ListWatch<T>({
    list: (options, signal) =>
      new Promise<KubeList<T>>((resolve, reject) => {
        const path = pathOf(options, {});
        const request = { path, verb: 'LIST', signal, silenceMaxMs: LIST_SILENCE_MAX_MS } as const;
        void client.get(request, new HttpList<T>(type, resolve, reject));
      }),
    watch: (options, signal) =>
      new Promise<Watch<T>>((resolve, reject) => {
        const path = pathOf(options, { watch: 'true' });
        void client.get({ path, verb: 'WATCH', signal }, new HttpWatch<T>(resolve, reject));
      }),
  });
}

/** Reads a list item by item from the stream, so that a large list is never held as a single string. */
class HttpList<T> implements ResponseReader, ItemSink {
  /** The type of the items; the server omits it in the items. */
  readonly #type: ExpectedType;
  readonly #items: ListItems = new ListItems(OBJECT_BYTES_MAX);
  readonly #parsed: T[] = [];
  readonly #resolve: (list: KubeList<T>) => void;
  readonly #reject: (error: unknown) => void;
  #response: HttpExchange | undefined;
  #error: KubeloomError | undefined;

  constructor(type: ExpectedType, resolve: (list: KubeList<T>) => void, reject: (error: unknown) => void) {
    this.#type = type;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  opened(response: HttpExchange): void {
    this.#response = response;
  }

  data(chunk: Buffer): void {
    this.#items.write(chunk, 0, this);
  }

  end(error: Error | undefined): void {
    const failure = this.#error ?? error;
    if (failure) return this.#reject(failure);
    try {
      this.#resolve(this.#list());
    } catch (cause) {
      this.#reject(cause);
    }
  }

  item(bytes: Buffer, start: number, end: number): boolean {
    if (this.#error) return true;
    const item = parseJson(bytes.toString('utf8', start, end));
    if (isRecord(item)) {
      const { kind, apiVersion } = this.#type;
      // The caller declares the type of the items; it can be checked only that they are objects.
      this.#parsed.push({ kind, apiVersion, ...item } as T);
    } else {
      const message = `item ${this.#parsed.length} of the list is not valid JSON`;
      this.#fail(new KubeloomError('ERR_KUBELOOM_MALFORMED_RESPONSE', message));
    }
    return true;
  }

  oversized(_bytes: Buffer, _start: number, _end: number, totalBytes: number): boolean {
    const message = `item ${this.#parsed.length} of the list has ${totalBytes} bytes`;
    this.#fail(new KubeloomError('ERR_KUBELOOM_OBJECT_TOO_LARGE', message));
    return true;
  }

  unreadable(error: KubeloomError): void {
    this.#fail(error);
  }

  #list(): KubeList<T> {
    const { kind, apiVersion, resourceVersion, ...rest } = this.#items.finish();
    return {
      ...(kind === undefined ? {} : { kind }),
      ...(apiVersion === undefined ? {} : { apiVersion }),
      metadata: { resourceVersion, ...rest },
      items: this.#parsed,
    };
  }

  #fail(error: KubeloomError): void {
    this.#error ??= error;
    this.#response?.close();
  }
}

interface Waiting<T> {
  readonly resolve: (result: IteratorResult<WatchEvent<T>>) => void;
  readonly reject: (error: Error) => void;
}

/**
 * An open watch as an AsyncIterable. It reads at most a single chunk of the response ahead: while the caller does not
 * iterate, the socket is paused, and the server keeps the events.
 */
class HttpWatch<T> implements ResponseReader, FrameSink, Watch<T>, AsyncIterator<WatchEvent<T>> {
  readonly #opened: (watch: Watch<T>) => void;
  readonly #refused: (error: Error) => void;
  readonly #frames: WatchFrames = new WatchFrames(OBJECT_BYTES_MAX);
  #response: HttpExchange | undefined;
  #events: WatchEvent<T>[] = [];
  /** Index of the first event that was not delivered. */
  #next = 0;
  readonly #waiting: Waiting<T>[] = [];
  #end: { readonly error: Error | undefined } | undefined;

  constructor(opened: (watch: Watch<T>) => void, refused: (error: Error) => void) {
    this.#opened = opened;
    this.#refused = refused;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<WatchEvent<T>>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#give();
    });
  }

  return(): Promise<IteratorResult<WatchEvent<T>>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  stop(): void {
    // Undelivered events and errors are dropped.
    this.#end = { error: undefined };
    this.#events = [];
    this.#next = 0;
    this.#response?.close();
    this.#give();
  }

  opened(response: HttpExchange): void {
    this.#response = response;
    this.#opened(this);
  }

  data(chunk: Buffer): void {
    this.#frames.write(chunk, 0, this);
    this.#give();
  }

  end(error: Error | undefined): void {
    this.#end ??= { error };
    if (this.#response) this.#give();
    else
      this.#refused(error ?? new KubeloomError('ERR_KUBELOOM_HTTP', 'the response ended before its headers'));
  }

  frame(bytes: Buffer, start: number, end: number): boolean {
    if (this.#end) return true;
    const event = eventOf<T>(bytes.toString('utf8', start, end));
    if (event) this.#events.push(event);
    else this.unreadable(malformed(`a line of ${end - start} bytes is not a watch event`));
    return true;
  }

  oversized(_bytes: Buffer, _start: number, _end: number, totalBytes: number): boolean {
    this.unreadable(malformed(`an event has ${totalBytes} bytes`));
    return true;
  }

  unreadable(error: KubeloomError): void {
    this.#end ??= { error };
    this.#response?.close();
  }

  /** Delivers events to waiting calls; continues to read only while a call waits. */
  #give(): void {
    for (let waiting = this.#waiting[0]; waiting; waiting = this.#waiting[0]) {
      const event = this.#events[this.#next];
      if (event) {
        this.#next++;
        waiting.resolve({ done: false, value: event });
      } else if (this.#end) {
        this.#finish(waiting, this.#end.error);
      } else {
        break;
      }
      this.#waiting.shift();
    }
    if (this.#next === this.#events.length) {
      this.#events = [];
      this.#next = 0;
    }
    if (this.#end) return;
    if (this.#waiting.length > 0) this.#response?.resume();
    else this.#response?.pause();
  }

  #finish(waiting: Waiting<T>, error: Error | undefined): void {
    // Only once: an error ends the iteration.
    this.#end = { error: undefined };
    if (error) waiting.reject(error);
    else waiting.resolve({ done: true, value: undefined });
  }
}

function malformed(message: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_MALFORMED_EVENT', message);
}

function eventOf<T>(line: string): WatchEvent<T> | undefined {
  const event = parseJson(line);
  if (!isRecord(event) || typeof event['type'] !== 'string' || !isRecord(event['object'])) return undefined;
  // The caller checks types and objects.
  return event as WatchEvent<T>;
}
