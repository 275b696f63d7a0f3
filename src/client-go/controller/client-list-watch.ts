/** ListWatches that send requests to an apiserver, on the calling thread. */
import { KubeloomError } from '../../base/errors.ts';
import type { KubeList, ListOptions, Watch } from '../../kube/list-watch.ts';
import { apiVersionOf, resourcePath } from '../../kube/resource.ts';
import type { ResourceOf } from '../../kube/resource.ts';
import { ApiClient } from '../../reflector/api-client.ts';
import { HttpList } from './http-list.ts';
import { HttpWatch } from './http-watch.ts';
import { queryOf } from '../../kube/list-watch.ts';
import type { ServerSource } from '../../kube/server-source.ts';
import { ListWatch } from './list-watch.ts';

/** An apiserver may work on a list for a minute before it answers; then it times out itself. */
const LIST_SILENCE_MAX_MS = 90_000;

/** Changes the options of every request. An error fails the request. */
export type OptionsModifier = (options: ListOptions) => ListOptions;

/**
 * @param namespace '' for all
 * @param fieldSelector `spec.nodeName=node-7`; '' for everything
 */
export function newListWatchFromClient<T>(
  source: ServerSource,
  resource: ResourceOf<T>,
  namespace = '',
  fieldSelector = '',
): ListWatch<T> {
  return newFilteredListWatchFromClient(source, resource, namespace, (options) =>
    fieldSelector === '' ? options : { ...options, fieldSelector },
  );
}

export function newFilteredListWatchFromClient<T>(
  source: ServerSource,
  resource: ResourceOf<T>,
  namespace: string,
  optionsModifier: OptionsModifier,
): ListWatch<T> {
  const client = new ApiClient(source);
  const base = resourcePath(resource, namespace);
  const type = { kind: resource.kind, apiVersion: apiVersionOf(resource) };
  const pathOf = (options: ListOptions, more: Readonly<Record<string, string>>): string => {
    const modified = optionsModifier(options);
    // A promise would count as empty options.
    if ('then' in modified)
      throw new KubeloomError('ERR_KUBELOOM_LIST_OPTIONS', 'the options modifier returned a promise');
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
