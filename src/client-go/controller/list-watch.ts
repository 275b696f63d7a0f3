/** client-go's ListWatch: a ListerWatcher made of two functions. */
import type { KubeList, ListOptions, ListerWatcher, Watch } from '../../kube/list-watch.ts';

export type ListFunction<T> = (options: ListOptions, signal: AbortSignal) => Promise<KubeList<T>>;
export type WatchFunction<T> = (options: ListOptions, signal: AbortSignal) => Promise<Watch<T>>;

export interface ListWatchFunctions<T> {
  readonly list: ListFunction<T>;
  readonly watch: WatchFunction<T>;
  /** True when streaming lists must not be tried: for fakes, and clients without support for them. */
  readonly isWatchListUnsupported?: boolean;
  /** Present as in client-go, where it is unused too: the reflector decides about paging. */
  readonly disableChunking?: boolean;
}

export class ListWatch<T> implements ListerWatcher<T> {
  readonly isWatchListUnsupported: boolean;
  readonly disableChunking: boolean;
  readonly #functions: ListWatchFunctions<T>;

  constructor(functions: ListWatchFunctions<T>) {
    this.#functions = functions;
    this.isWatchListUnsupported = functions.isWatchListUnsupported ?? false;
    this.disableChunking = functions.disableChunking ?? false;
  }

  list(options: ListOptions, signal: AbortSignal = new AbortController().signal): Promise<KubeList<T>> {
    return this.#functions.list(options, signal);
  }

  watch(options: ListOptions, signal: AbortSignal = new AbortController().signal): Promise<Watch<T>> {
    return this.#functions.watch(options, signal);
  }
}
