/**
 * Proof that a collection is unchanged. On an ordinary watch a server sends a bookmark once a minute, but also two
 * seconds before the watch ends. So a watch of three seconds carries a bookmark after a second, however quiet the
 * collection is.
 */
import { KubeloomError } from '../base/errors.ts';
import { parseJson } from '../base/parse-json.ts';
import type { ApiClient } from '../http/api-client.ts';

const WATCH_SECONDS = 3;

/** The changes that a watch carried. */
export interface WatchedChanges {
  /** Version of the last change; undefined if there was no change. */
  readonly lastChange: string | undefined;
  /** Version of the last event or bookmark, up to which `lastChange` is the server's newest change. */
  readonly until: string;
}

/**
 * Watches a collection for three seconds.
 *
 * @param path of the collection
 * @param resourceVersion the version after which changes count
 * @returns undefined when the watch proves no newer version: it carried no event and no bookmark, or ended with an
 *   error
 * @throws the errors of `ApiClient.getBody`
 */
export async function changesSince(
  api: ApiClient,
  path: string,
  resourceVersion: string,
  signal: AbortSignal,
): Promise<WatchedChanges | undefined> {
  const query = {
    watch: '1',
    allowWatchBookmarks: '1',
    timeoutSeconds: String(WATCH_SECONDS),
    resourceVersion,
  };
  const body = await api.getBody(`${path}?${new URLSearchParams(query).toString()}`, signal);
  const lines = body.toString().split('\n').filter(Boolean);
  const events = lines.map((line) => parseJson(line) as WatchEvent | undefined);
  if (!events.every((event) => event !== undefined)) {
    throw new KubeloomError('ERR_KUBELOOM_MALFORMED_EVENT', `WATCH ${path}: a line is not a watch event`);
  }
  const last = events.at(-1);
  if (!last || last.type === 'ERROR') return undefined;
  const lastChange = events.findLast(({ type }) => type !== 'BOOKMARK');
  return { lastChange: lastChange && versionOf(lastChange), until: versionOf(last) };
}

interface WatchEvent {
  readonly type: string;
  readonly object: { readonly metadata?: { readonly resourceVersion?: string } };
}

function versionOf({ object }: WatchEvent): string {
  return object.metadata?.resourceVersion ?? '';
}
