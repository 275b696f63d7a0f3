/** Which object is meant: as the key of an entry, or in parts. */
import { parseObjectName } from '../cache/keys.ts';
import { KubeloomError } from '../errors.ts';
import { groupResource } from '../factory/resource-wish.ts';
import type { ResourceRef } from '../kube/resource.ts';

/** `namespace/name`, or `name` of what is cluster-scoped. */
export type ObjectKey = string | { readonly namespace?: string; readonly name: string };

/** @throws ERR_KUBELOOM_KEY_FORMAT when it cannot be the key of such an object */
export function objectKey(key: ObjectKey, resource: ResourceRef): { namespace: string; name: string } {
  const { namespace = '', name } = typeof key === 'string' ? parseObjectName(key) : (key ?? {});
  if (typeof name === 'string' && name !== '' && (namespace !== '') === resource.isNamespaced) {
    return { namespace, name };
  }
  throw new KubeloomError(
    'ERR_KUBELOOM_KEY_FORMAT',
    `unexpected key format: ${JSON.stringify(key)}; those of ${groupResource(resource)} are ` +
      (resource.isNamespaced ? 'namespace/name' : 'a name alone'),
  );
}
