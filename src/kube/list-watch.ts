/**
 * What can be listed and watched: the two functions that a reflector needs, and the shapes that they give.
 * client-go's ListerWatcher, with a watch as an AsyncIterable.
 */

/** Parameters of LIST and WATCH, by the names that the API has for them. */
export interface ListOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Items a page; the rest follows with `continue`. */
  readonly limit?: number;
  readonly continue?: string;
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  /** The streaming list: a watch that begins with everything there is. */
  readonly sendInitialEvents?: boolean;
}

/** `metadata` of a list. */
export interface ListMetadata {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface KubeList<T> {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMetadata;
  readonly items: readonly T[];
}

/** `object` of an ERROR is a Status, of a BOOKMARK an object with nothing but its resourceVersion. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: unknown }
  | { readonly type: 'ERROR'; readonly object: unknown };

/** An open watch. It ends when the server closes it, when `stop` is called, or by throwing. */
export interface Watch<T> extends AsyncIterable<WatchEvent<T>> {
  /** Ends it, also in the middle of an iteration. May be called more than once. */
  stop(): void;
}

/**
 * Lists and watches one collection. Expected failures are thrown: an error whose `httpStatus` and `reason`
 * are the server's (`KubeStatusError`), anything else counts as a connection that could not be made.
 */
export interface ListerWatcher<T> {
  list(options: ListOptions, signal: AbortSignal): Promise<KubeList<T>>;
  watch(options: ListOptions, signal: AbortSignal): Promise<Watch<T>>;
  /** True when streaming lists must not be tried. */
  readonly isWatchListUnsupported?: boolean;
}

/** Tells the functions apart from a KubeConfig, or whatever else says where a server is. */
export function isListerWatcher<T>(source: object | ListerWatcher<T>): source is ListerWatcher<T> {
  return 'list' in source && 'watch' in source;
}
