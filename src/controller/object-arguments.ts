/** The arguments of requests for single objects, checked before anything is sent: each error says what to pass. */
import { KubeloomError, messageOf } from '../base/errors.ts';
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
}

export function metadataOf(object: unknown): ObjectMetadata {
  const metadata: unknown = isRecord(object) ? object['metadata'] : undefined;
  return isRecord(metadata) ? metadata : {};
}

/** Returns the path of the object that a key names. @throws ERR_KUBELOOM_OPTION, ERR_KUBELOOM_KEY */
export function pathOf(given: ResourceRef, key: ObjectKey): string {
  const resource = wanted(given);
  const { namespace, name } = partsOf(key);
  if (resource.isNamespaced && namespace === '') throw unnamed(resource, 'a namespace');
  if (name === '' || name === '.' || name === '..') throw unnamed(resource, 'a name');
  return `${resourcePath(resource, namespace)}/${encodeURIComponent(name)}`;
}

/** Returns the path of an object that is sent. @throws ERR_KUBELOOM_OPTION */
export function pathOfObject(given: ResourceRef, object: unknown): string {
  const resource = wanted(given);
  checkObject(resource, object);
  const { namespace = '', name = '' } = metadataOf(object);
  if (name === '') throw unnamed(resource, 'metadata.name');
  return pathOf(resource, { namespace, name });
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

/** Returns the object with its type: the objects of a list have none, and a server needs it. */
export function complete(resource: ResourceRef, object: unknown): object {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...(object as object) };
}

/** Returns the patch. @throws ERR_KUBELOOM_OPTION for one that changes nothing, and for what is no merge patch */
export function checkPatch({ resource }: ResourceRef, patch: unknown): object {
  const what = `the patch of an object of ${resource}`;
  if (!isRecord(patch) || Array.isArray(patch))
    throw wrong(`${what} is ${described(patch)}: pass a merge patch, an object with the members to change`);
  if (isOurs(patch))
    throw wrong(`${what} is ${described(patch)}: pass an object with only the members to change`);
  if (Object.values(patch).every((value) => value === undefined))
    throw wrong(`${what} is empty: pass an object with the members to change; null removes one`);
  return patch;
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

function partsOf(key: unknown): { readonly namespace: string; readonly name: string } {
  if (typeof key === 'string') return parsedKey(key);
  const { namespace = '', name } = isRecord(key) ? key : {};
  if (typeof namespace === 'string' && typeof name === 'string') return { namespace, name };
  throw wrong(`the key of a request is ${described(key)}: ${KEY_ADVICE}`, 'ERR_KUBELOOM_KEY');
}

const KEY_ADVICE = "pass 'namespace/name', the name of a cluster-scoped object, or { namespace, name }";

function parsedKey(key: string): { readonly namespace: string; readonly name: string } {
  try {
    return parseObjectName(key);
  } catch (error) {
    throw wrong(`${messageOf(error)}: ${KEY_ADVICE}`, 'ERR_KUBELOOM_KEY');
  }
}

function isOurs(value: object): boolean {
  return isEntry(value) || isFinalStateUnknown(value) || isExplicitKey(value);
}

/** Names the kind of a value, and no part of it. */
function described(value: unknown): string {
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
