/**
 * The query parameters of every request, after client-go's ladders: which resourceVersion a list or watch
 * asks for, and when a list comes in pages.
 */
import type { Query } from '../threads/protocol.ts';

/** client-go's default page. */
export const PAGE_SIZE = 500;

/** The query parameter that `resourceVersion` "" stands for is no parameter. */
function atVersion(resourceVersion: string): Query {
  return resourceVersion === '' ? {} : { resourceVersion };
}

/**
 * What a list asks for: "0" at first (any state will do, the cheapest), then the last seen (never back in
 * time), and "" (the most recent) once the server has said that it cannot serve that one.
 */
export function listVersion(lastSeen: string, isUnavailable: boolean): string {
  if (isUnavailable) return '';
  return lastSeen === '' ? '0' : lastSeen;
}

/** A streaming list never asks for "0": the most recent state costs the server no more. */
export function streamVersion(lastSeen: string, isUnavailable: boolean): string {
  return isUnavailable ? '' : lastSeen;
}

/**
 * Items per page, 0 for all at once. A list at a given version comes from the server's cache, which
 * ignores limits, and from etcd otherwise; unless "0" came back in pages: then there is no such cache.
 */
export function pageLimit(resourceVersion: string, pageSize: number, isPaginated: boolean): number {
  if (pageSize > 0) return pageSize;
  if (isPaginated) return PAGE_SIZE;
  return resourceVersion === '' || resourceVersion === '0' ? PAGE_SIZE : 0;
}

export function listQuery(base: Query, resourceVersion: string, limit: number): Query {
  return { ...base, ...atVersion(resourceVersion), ...(limit > 0 ? { limit: String(limit) } : {}) };
}

/** The token names the snapshot: a resourceVersion beside it is refused. */
export function nextPageQuery(base: Query, limit: number, continueToken: string): Query {
  return { ...base, ...(limit > 0 ? { limit: String(limit) } : {}), continue: continueToken };
}

/** A list at this version and no other; its further pages have the token only. */
export function exactListQuery(base: Query, resourceVersion: string, continueToken: string): Query {
  if (continueToken !== '') return nextPageQuery(base, PAGE_SIZE, continueToken);
  return { ...listQuery(base, resourceVersion, PAGE_SIZE), resourceVersionMatch: 'Exact' };
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

/** Without a version, or at "0", a watch begins with made-up ADDED events in no order. */
export function beginsWithSyntheticEvents(query: Query): boolean {
  const resourceVersion = query['resourceVersion'] ?? '';
  return resourceVersion === '' || resourceVersion === '0';
}
