/**
 * The two functions that a reflector needs, list and watch, and the types of their results. client-go's
 * ListerWatcher, with a watch as an AsyncIterable.
 */

/** Parameters of LIST and WATCH, with the names of the API. */
export interface ListOptions {
  /** Only objects with matching labels: `app=web,tier in (a,b)`. Absent: all. */
  readonly labelSelector?: string;
  /** Only objects with matching fields: `spec.nodeName=n1`. Absent: all. */
  readonly fieldSelector?: string;
  /** Ranges of hashes, as `shardSelectorText` writes them; servers may ignore it. */
  readonly shardSelector?: string;
  /**
   * LIST: the version that `resourceVersionMatch` refers to; `0` is any state, absent the most recent state. WATCH: the
   * version after which the events begin.
   */
  readonly resourceVersion?: string;
  /** State that a LIST returns: this `resourceVersion`, or a state that is not older. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Items in a page; `continue` requests the next page. */
  readonly limit?: number;
  /** Token of the next page: `metadata.continue` of the page before. */
  readonly continue?: string;
  /** Seconds after which the server ends the request. The informer sets it for watches only. */
  readonly timeoutSeconds?: number;
  /** Requests BOOKMARK events in a watch, which show the version without a change. A server may send none. */
  readonly allowWatchBookmarks?: boolean;
  /** Requests a streaming list: a watch that begins with all existing objects. */
  readonly sendInitialEvents?: boolean;
}

/** `metadata` of a list. */
export interface ListMetadata {
  /** Version of the collection at the time of the list. A watch begins after it. */
  readonly resourceVersion?: string;
  /** Token of the next page. Absent or empty: this page is the last. */
  readonly continue?: string;
  /** Items on later pages. Absent if the server does not count them, as with a selector. */
  readonly remainingItemCount?: number;
}

/** A list as the server answers it. */
export interface KubeList<T> {
  /** Kind of the list: `PodList`. */
  readonly kind?: string;
  /** `v1` or `apps/v1`. */
  readonly apiVersion?: string;
  /** Version of the list, and the token of the next page. */
  readonly metadata?: ListMetadata;
  /** Objects of this page. A server may omit their kind and apiVersion. */
  readonly items: readonly T[];
}

/** Event of a watch. `object` of an ERROR is a Status, of a BOOKMARK an object with only a resourceVersion. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: unknown }
  | { readonly type: 'ERROR'; readonly object: unknown };

/** An open watch. It ends when the server closes it, when `stop` is called, or by throwing. */
export interface Watch<T> extends AsyncIterable<WatchEvent<T>> {
  /** Ends the watch, also in the middle of an iteration. May be called more than once. */
  stop(): void;
}

/**
 * Lists and watches a collection. Both functions throw expected failures: an error with the server's
 * `httpStatus` and `reason` (`KubeStatusError`); any other error counts as a connection failure.
 */
export interface ListerWatcher<T> {
  /** Returns the list, or the page that `limit` and `continue` select. Abort of the signal ends the request. */
  list(options: ListOptions, signal: AbortSignal): Promise<KubeList<T>>;
  /**
   * Opens a watch of the changes after `options.resourceVersion`; resolves when the server has accepted it. Abort of
   * the signal ends the request; the informer also calls `stop` of the open watch.
   */
  watch(options: ListOptions, signal: AbortSignal): Promise<Watch<T>>;
  /** True when streaming lists must not be tried. */
  readonly isWatchListUnsupported?: boolean;
}

/** Distinguishes a ListerWatcher from a KubeConfig and other sources. */
export function isListerWatcher<T>(source: object | ListerWatcher<T>): source is ListerWatcher<T> {
  return ['list', 'watch'].every((name) => typeof Reflect.get(source, name) === 'function');
}

const NUMBERS: ReadonlySet<string> = new Set(['limit', 'timeoutSeconds']);
const BOOLEANS: ReadonlySet<string> = new Set(['allowWatchBookmarks', 'sendInitialEvents']);

/** Returns the options for a query. `watch=true` is not among the options: the `watch` function implies it. */
export function listOptionsOf(query: Readonly<Record<string, string>>): ListOptions {
  const options: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(query)) {
    if (name === 'watch') continue;
    if (NUMBERS.has(name)) options[name] = Number(value);
    else if (BOOLEANS.has(name)) options[name] = value === 'true';
    else options[name] = value;
  }
  return options;
}

/** Returns the query for the options. Empty values, zero and false have no parameter: the API defaults to them. */
export function queryOf(options: ListOptions): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === '' || value === 0 || value === false) continue;
    query[name] = String(value);
  }
  return query;
}
