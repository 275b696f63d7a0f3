/** Reads the path that client-node's informers take, `/apis/apps/v1/namespaces/web/deployments`, into a resource. */
import { text } from '../base/option-checks.ts';
import { KubeloomError } from '../index.ts';
import { findBuiltIn } from '../kube/resources.ts';
import type { ResourceRef } from '../index.ts';

/** A collection of an apiserver, and the selectors in the query of the path. */
export interface WatchPath {
  readonly resource: ResourceRef;
  /** '' for all namespaces. */
  readonly namespace: string;
  /** Whether client-node contains a model of the objects. */
  readonly isBuiltIn: boolean;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

const PATH =
  /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<name>[^/]+)$/;
const FORM = '/api/v1/namespaces/NAMESPACE/pods, or /apis/GROUP/VERSION/RESOURCE';
/** Selectors, and parameters of a watch that select no objects: the informer chooses those itself. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'labelSelector',
  'fieldSelector',
  'allowWatchBookmarks',
  'limit',
  'resourceVersion',
  'timeoutSeconds',
  'watch',
]);

/** @throws ERR_KUBELOOM_OPTION for a path that is not the path of a collection */
export function parseWatchPath(path: string): WatchPath {
  text('path', path);
  const [pathname = '', query = ''] = path.split('?', 2);
  const parts = PATH.exec(pathname)?.groups;
  if (!parts) throw refusal(path, `the path of a collection is ${FORM}`);
  const { group = '', version = '', namespace = '', name: resource = '' } = parts;
  const names = { group, version, resource };
  const builtIn = findBuiltIn(names);
  return {
    // The objects of a custom resource name their kind.
    resource: builtIn ?? { ...names, kind: '', isNamespaced: true },
    namespace,
    isBuiltIn: builtIn !== undefined,
    ...selectorsOf(path, new URLSearchParams(query)),
  };
}

function selectorsOf(
  path: string,
  query: URLSearchParams,
): Pick<WatchPath, 'labelSelector' | 'fieldSelector'> {
  const strange = [...query.keys()].filter((name) => !PARAMETERS.has(name));
  if (strange.length > 0) {
    throw refusal(path, `an informer cannot send ${strange.join(', ')}: remove it from the path`);
  }
  const labelSelector = query.get('labelSelector');
  const fieldSelector = query.get('fieldSelector');
  return {
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
}

function refusal(path: string, why: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_OPTION', `${JSON.stringify(path)} cannot be watched: ${why}`);
}
