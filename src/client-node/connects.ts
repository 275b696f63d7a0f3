/**
 * Tells which requests of an informer client-node would announce with `connect`: each list, and each watch that does not
 * continue a list.
 */
import type { ListOptions } from '../index.ts';

/** The request that may follow without a further announcement. */
export type Announced =
  /** A watch, because a list was announced. */
  | 'watch'
  /** A list, because a streaming list was announced, which the server may refuse. */
  | 'list'
  | 'none';

export interface ConnectStep {
  readonly announced: Announced;
  /** Whether to announce this request. */
  readonly isConnect: boolean;
}

/** Returns the step for a request. The caller begins at `none` again after an error. */
export function stepConnect(announced: Announced, options: ListOptions): ConnectStep {
  if (options.sendInitialEvents === true) return { announced: 'list', isConnect: true };
  if (options.allowWatchBookmarks === true) return { announced: 'none', isConnect: announced !== 'watch' };
  // The next page of a list.
  if (options.continue !== undefined) return { announced, isConnect: false };
  return { announced: 'watch', isConnect: announced !== 'list' };
}
