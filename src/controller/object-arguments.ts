/** The arguments of requests for single objects, checked before the request: each error says what to pass. */
import { KubeloomError, messageOf } from '../base/errors.ts';
import { shown } from '../base/option-checks.ts';
import type { ErrorCode } from '../base/error-codes/error-table.ts';
import { parseObjectName } from '../kube/keys.ts';
import { isEntry, isExplicitKey, isFinalStateUnknown, isRecord } from '../kube/meta-shape.ts';
import { apiVersionOf, resourcePath, checkResource } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { ObjectKey } from '../informer/map/kind-cache.ts';

interface ObjectMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly uid?: string;
  readonly managedFields?: unknown;
}

export function metadataOf(object: unknown): ObjectMetadata {
  const metadata: unknown = isRecord(object) ? object['metadata'] : undefined;
  return isRecord(metadata) ? metadata : {};
}

interface NameParts {
  readonly namespace: string;
  readonly name: string;
}

/** Returns namespace and name of the object that a key names. @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_KEY */
export function partsOfKey(given: ResourceRef, key: ObjectKey): NameParts {
  const resource = wanted(given);
  const { namespace, name } = partsOf(key);
  if (resource.isNamespaced && namespace === '') throw unnamed(resource, 'a namespace');
  if (name === '' || name === '.' || name === '..') throw unnamed(resource, 'a name');
  return { namespace, name };
}

/**
 * Returns the path of the object that a key names, or of a part of it.
 *
 * @param subresource default: the object itself
 * @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_KEY
 */
export function pathOf(given: ResourceRef, key: ObjectKey, subresource?: string): string {
  const { namespace, name } = partsOfKey(given, key);
  const path = `${resourcePath(given, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Returns the path of a collection. @throws ERR_KUBELOOM_OPTION */
export function checkedCollection(given: ResourceRef, namespace = ''): string {
  const resource = wanted(given);
  if (!resource.isNamespaced && namespace !== '')
    throw wrong(`${resource.resource} have no namespace: leave the option namespace out`);
  return resourcePath(resource, namespace);
}

/** Returns the path of an object that is sent. @throws ERR_KUBELOOM_OPTION */
export function pathOfObject(given: ResourceRef, object: unknown, subresource?: string): string {
  const resource = wanted(given);
  checkObject(resource, object);
  const { namespace = '', name = '' } = metadataOf(object);
  if (name === '') throw unnamed(resource, 'metadata.name');
  return pathOf(resource, { namespace, name }, subresource);
}

/** Returns the path of the collection of an object that is created. @throws ERR_KUBELOOM_OPTION */
export function collectionOf(given: ResourceRef, object: unknown): string {
  const resource = wanted(given);
  checkObject(resource, object);
  const { namespace = '' } = metadataOf(object);
  if (typeof namespace !== 'string' || (resource.isNamespaced && namespace === ''))
    throw unnamed(resource, 'metadata.namespace');
  return resourcePath(resource, namespace);
}

/** The types of subresource bodies that are not objects of the resource. */
const TYPES_OF_SUBRESOURCES: ReadonlyMap<string, ObjectType> = new Map([
  ['scale', { apiVersion: 'autoscaling/v1', kind: 'Scale' }],
  ['eviction', { apiVersion: 'policy/v1', kind: 'Eviction' }],
  ['binding', { apiVersion: 'v1', kind: 'Binding' }],
  ['token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }],
]);

interface ObjectType {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Returns the object with apiVersion and kind: the objects of a list lack them, and a server requires them.
 *
 * @throws ERR_KUBELOOM_OPTION for an object of another type
 */
export function complete(resource: ResourceRef, object: unknown, subresource = ''): object {
  const own = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  const type = TYPES_OF_SUBRESOURCES.get(subresource) ?? own;
  const { apiVersion = type.apiVersion, kind = type.kind } = object as Partial<
    Record<keyof ObjectType, unknown>
  >;
  if (apiVersion !== type.apiVersion || kind !== type.kind) {
    const given = `${shown(apiVersion)} ${shown(kind)}`;
    throw wrong(
      `the object of ${resource.resource} is of ${given}: pass an object of ${type.apiVersion} ${type.kind}, or its resource`,
    );
  }
  return { ...(object as object), apiVersion, kind };
}

function wanted(resource: unknown): ResourceRef {
  checkResource(resource);
  return resource;
}

function checkObject({ resource }: ResourceRef, object: unknown): void {
  if (isRecord(object) && isEntry(object))
    throw wrong(`the object of ${resource} is an entry of a cache: pass entry.copy(), changed`);
  if (isRecord(object) && !Array.isArray(object) && !isOurs(object)) return;
  throw wrong(`the object of ${resource} is ${described(object)}: pass an object with its metadata`);
}

function partsOf(key: unknown): NameParts {
  if (typeof key === 'string') return parsedKey(key);
  const { namespace = '', name } = isRecord(key) ? key : {};
  if (typeof namespace === 'string' && typeof name === 'string') return { namespace, name };
  throw wrong(`the key of a request is ${described(key)}: ${KEY_ADVICE}`, 'ERR_KUBELOOM_KEY');
}

const KEY_ADVICE = "pass 'namespace/name', the name of a cluster-scoped object, or { namespace, name }";

function parsedKey(key: string): NameParts {
  try {
    return parseObjectName(key);
  } catch (error) {
    throw wrong(`${messageOf(error)}: ${KEY_ADVICE}`, 'ERR_KUBELOOM_KEY');
  }
}

export function isOurs(value: object): boolean {
  return isEntry(value) || isFinalStateUnknown(value) || isExplicitKey(value);
}

/** Names the kind of a value, without any content. */
export function described(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (isEntry(value)) return 'an entry of a cache';
  return isOurs(value) ? 'a tombstone or a key' : 'an object of another shape';
}

function unnamed({ resource }: ResourceRef, missing: string): KubeloomError {
  return wrong(`an object of ${resource} cannot be addressed: it needs ${missing}`);
}

function wrong(message: string, code: ErrorCode = 'ERR_KUBELOOM_OPTION'): KubeloomError {
  return new KubeloomError(code, message);
}
