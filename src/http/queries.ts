/**
 * The query parameters of every request, as in client-go: the resourceVersion of a list or watch, and when a
 * list comes in pages.
 */
import type { Query } from '../kube/connection-options.ts';

/** client-go's default page. */
export const PAGE_SIZE = 500;

/** Returns the parameter; `resourceVersion` "" means to omit it. */
function atVersion(resourceVersion: string): Query {
  return resourceVersion === '' ? {} : { resourceVersion };
}

/**
 * Returns the version of a list: "0" at first (any state, the cheapest), then the last seen (never back in
 * time). It is "" (the most recent) once the server refused that version, and at first if the informer requires it.
 */
export function listVersion(lastSeen: string, isUnavailable: boolean, first: 'any' | 'latest'): string {
  if (isUnavailable) return '';
  return lastSeen === '' && first === 'any' ? '0' : lastSeen;
}

/**
 * Returns the version of a streaming list. It is never "0": the most recent state costs the server no more.
 */
export function streamVersion(lastSeen: string, isUnavailable: boolean): string {
  return isUnavailable ? '' : lastSeen;
}

/**
 * Returns the items per page, 0 for all at once. A list at a given version comes from the server's cache,
 * which ignores limits; others come from etcd. A list at "0" that came in pages shows that there is no such
 * cache.
 */
export function pageLimit(resourceVersion: string, pageSize: number, isPaginated: boolean): number {
  if (pageSize > 0) return pageSize;
  if (isPaginated) return PAGE_SIZE;
  return resourceVersion === '' || resourceVersion === '0' ? PAGE_SIZE : 0;
}

export function listQuery(base: Query, resourceVersion: string, limit: number): Query {
  return { ...base, ...atVersion(resourceVersion), ...(limit > 0 ? { limit: String(limit) } : {}) };
}

/**
 * Returns the query of the next page. The token names the snapshot; a resourceVersion beside it is an error.
 */
export function nextPageQuery(base: Query, limit: number, continueToken: string): Query {
  return { ...base, ...(limit > 0 ? { limit: String(limit) } : {}), continue: continueToken };
}

export function watchQuery(base: Query, resourceVersion: string): Query {
  return { ...base, watch: 'true', allowWatchBookmarks: 'true', ...atVersion(resourceVersion) };
}

export function streamingListQuery(base: Query, resourceVersion: string): Query {
  return {
    ...watchQuery(base, resourceVersion),
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  };
}

/** Returns whether a watch begins with synthetic ADDED events in no order: without a version, or at "0". */
export function beginsWithSyntheticEvents(query: Query): boolean {
  const resourceVersion = query['resourceVersion'] ?? '';
  return resourceVersion === '' || resourceVersion === '0';
}
