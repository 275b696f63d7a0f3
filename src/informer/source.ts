/** Checks of an informer's source and resource. */
import { resourcePath } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import { assertServerSource } from '../kube/server-source.ts';
import { refuse } from '../base/option-checks.ts';

/** Checks a source. @throws ERR_KUBELOOM_OPTION unless it is a KubeConfig, a connection or a ListerWatcher */
export function wantSource(source: unknown): void {
  const isOwn =
    typeof source === 'object' &&
    source !== null &&
    ['list', 'watch'].every((name) => typeof Reflect.get(source, name) === 'function');
  if (!isOwn) assertServerSource(source);
}

const REF = '{ group, version, resource, kind, isNamespaced }, such as resources.core.v1.pods';

/** Checks a resource. @throws ERR_KUBELOOM_OPTION when it does not name a collection of a server */
export function wantResource(resource: unknown): asserts resource is ResourceRef {
  if (typeof resource !== 'object' || resource === null) refuse('resource', resource, REF);
  for (const name of ['group', 'version', 'resource', 'kind'] as const) {
    const value: unknown = Reflect.get(resource, name);
    if (typeof value !== 'string') refuse(`resource.${name}`, value, `text: a resource is ${REF}`);
  }
  const isNamespaced: unknown = Reflect.get(resource, 'isNamespaced');
  if (typeof isNamespaced !== 'boolean') {
    refuse('resource.isNamespaced', isNamespaced, `true or false: a resource is ${REF}`);
  }
  resourcePath(resource as ResourceRef);
}
