/** The names and the URL of a collection of an apiserver. */
import { KubeloomError } from '../base/errors.ts';
import { invalidOption, shown, text } from '../base/option-checks.ts';

/** Group, version, names and scope of a resource. */
export interface ResourceRef {
  /** Empty for the core group. */
  readonly group: string;
  /** `v1`, without the group. */
  readonly version: string;
  /** Plural, lower case: `pods`. */
  readonly resource: string;
  /** `Pod`. */
  readonly kind: string;
  /** False for cluster-scoped resources, such as nodes. */
  readonly isNamespaced: boolean;
}

/** A resource whose objects have a known type: functions that take it infer `T`. */
export interface ResourceOf<T> extends ResourceRef {
  /** Always absent: it only carries the type. */
  readonly wire?: T;
}

/** `v1` or `apps/v1`. */
export function apiVersionOf(ref: Pick<ResourceRef, 'group' | 'version'>): string {
  return ref.group === '' ? ref.version : `${ref.group}/${ref.version}`;
}

/** A DNS name, or a DNS label: what Kubernetes allows. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** A DNS label, as Kubernetes requires for namespaces. */
export function isNamespaceName(name: string): boolean {
  return NAMESPACE.test(name);
}

/**
 * `/api/v1/pods`, `/apis/apps/v1/namespaces/web/deployments`.
 *
 * @throws ERR_KUBELOOM_OPTION when a part would lead to another path
 */
export function resourcePath(
  ref: Pick<ResourceRef, 'group' | 'version' | 'resource' | 'isNamespaced'>,
  namespace = '',
): string {
  if (typeof ref !== 'object' || ref === null) invalidOption('resource', ref, REF);
  for (const name of [ref.group || 'core', ref.version, ref.resource]) {
    if (typeof name !== 'string' || !NAME.test(name)) refusePart(name, 'group, version or resource');
  }
  text('namespace', namespace);
  // They are not encoded, and mean the path above and the path itself.
  if (namespace === '.' || namespace === '..') refusePart(namespace, 'namespace');
  const base = ref.group === '' ? `/api/${ref.version}` : `/apis/${ref.group}/${ref.version}`;
  const scope = namespace !== '' && ref.isNamespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${base}${scope}/${ref.resource}`;
}

function refusePart(part: unknown, what: string): never {
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `${shown(part)} is no ${what}`);
}

const REF = '{ group, version, resource, kind, isNamespaced }, such as resources.core.v1.pods';

/** Checks a resource. @throws ERR_KUBELOOM_OPTION when it does not name a collection of a server */
export function checkResource(resource: unknown): asserts resource is ResourceRef {
  if (typeof resource !== 'object' || resource === null) invalidOption('resource', resource, REF);
  for (const name of ['group', 'version', 'resource', 'kind'] as const) {
    const value: unknown = Reflect.get(resource, name);
    if (typeof value !== 'string') invalidOption(`resource.${name}`, value, `text: a resource is ${REF}`);
  }
  const isNamespaced: unknown = Reflect.get(resource, 'isNamespaced');
  if (typeof isNamespaced !== 'boolean') {
    invalidOption('resource.isNamespaced', isNamespaced, `true or false: a resource is ${REF}`);
  }
  resourcePath(resource as ResourceRef);
}
