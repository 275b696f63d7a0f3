/** Key of an object in an InformersMap: one text, or namespace and name. */
import { parseObjectName } from '../../kube/keys.ts';
import { KubeloomError } from '../../base/errors.ts';
import { groupResource } from '../factory/resource-query.ts';
import type { ResourceRef } from '../../kube/resource.ts';

/** `namespace/name`, or only `name` for cluster-scoped objects. */
export type ObjectKey = string | { readonly namespace?: string; readonly name: string };

/** Parses a key. @throws ERR_KUBELOOM_KEY_FORMAT when it does not fit the scope of the resource */
export function objectKey(key: ObjectKey, resource: ResourceRef): { namespace: string; name: string } {
  const { namespace = '', name } = typeof key === 'string' ? parseObjectName(key) : (key ?? {});
  if (typeof name === 'string' && name !== '' && (namespace !== '') === resource.isNamespaced) {
    return { namespace, name };
  }
  throw new KubeloomError(
    'ERR_KUBELOOM_KEY_FORMAT',
    `unexpected key format: ${JSON.stringify(key)}; a key of ${groupResource(resource)} is ` +
      (resource.isNamespaced ? 'namespace/name' : 'a name without a namespace'),
  );
}
