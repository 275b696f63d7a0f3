/**
 * The proof that nothing has changed in a collection. Servers send a bookmark on an ordinary watch once a minute, but also two
 * seconds before a watch ends. So a watch of three seconds has one after a second, however quiet the collection is.
 */
import { KubeloomError } from '../base/errors.ts';
import { parseJson } from '../base/parse-json.ts';
import type { ApiClient } from '../http/api-client.ts';

const WATCH_SECONDS = 3;

/** The changes that a watch has carried. */
export interface WatchedChanges {
  /** Version of the last change; undefined without one. */
  readonly lastChange: string | undefined;
  /** Version of the last event or bookmark: the state of the last change was that of the server then. */
  readonly until: string;
}

/**
 * Watches a collection for three seconds.
 *
 * @param path of the collection
 * @param resourceVersion the version from which on changes count
 * @returns undefined when the watch says nothing about the versions since then: it has no bookmark, or ends with an error
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
