/**
 * Finalizers: names in the metadata that keep a deleted object until the controllers have cleaned up and removed them.
 * They are written as merge patches with the version that was read: another writer's change is a conflict.
 */
import { KubeloomError } from '../../base/errors.ts';
import { anArray, anObject, having, invalidOption, text } from '../../base/option-checks.ts';
import type { ResourceOf, ResourceRef } from '../../kube/resource.ts';
import type { KubeObject } from '../../kube/wire.ts';
import type { ObjectClient } from '../object-client.ts';
import type { RequestOptions } from '../requests/request-options.ts';

const aClient = having('an ObjectClient', 'patch');

/** An object, or an entry of a cache. */
export interface Finalized {
  /** The metadata as read: writes of finalizers fail if the object is no longer in this `resourceVersion`. */
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly finalizers?: readonly string[];
  };
}

/**
 * Returns whether an object has the finalizer.
 *
 * @throws ERR_KUBELOOM_OPTION for a value that is no object, and for finalizers that are no array
 */
export function hasFinalizer(object: Finalized, finalizer: string): boolean {
  text('finalizer', finalizer);
  return finalizersOf(object).includes(finalizer);
}

function finalizersOf(object: Finalized): readonly string[] {
  anObject('object', object);
  anObject('object.metadata', object.metadata ?? {});
  const { finalizers } = object.metadata ?? {};
  anArray('object.metadata.finalizers', finalizers ?? []);
  return finalizers ?? [];
}

/**
 * Adds the finalizer. Returns the object as stored; undefined if it already contained the finalizer.
 *
 * @throws ERR_KUBELOOM_CONFLICT when the object changed since it was read, and the other errors of `patch`
 */
export async function addFinalizer<T = KubeObject>(
  client: ObjectClient,
  resource: ResourceOf<T>,
  object: Finalized,
  finalizer: string,
  options: RequestOptions = {},
): Promise<T | undefined> {
  aClient('client', client);
  if (hasFinalizer(object, finalizer)) return undefined;
  const finalizers = [...finalizersOf(object), finalizer];
  return patchFinalizers(client, resource, object, finalizers, options);
}

/**
 * Removes the finalizer. Returns the object as stored; undefined if it did not contain the finalizer, or is gone.
 * Removing the last finalizer of a deleted object removes the object.
 *
 * @throws ERR_KUBELOOM_CONFLICT when the object changed since it was read, and the other errors of `patch`
 */
export async function removeFinalizer<T = KubeObject>(
  client: ObjectClient,
  resource: ResourceOf<T>,
  object: Finalized,
  finalizer: string,
  options: RequestOptions = {},
): Promise<T | undefined> {
  aClient('client', client);
  if (!hasFinalizer(object, finalizer)) return undefined;
  const finalizers = finalizersOf(object).filter((name) => name !== finalizer);
  try {
    return await patchFinalizers(client, resource, object, finalizers, options);
  } catch (error) {
    if (error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_NOT_FOUND') return undefined;
    throw error;
  }
}

async function patchFinalizers<T>(
  client: ObjectClient,
  resource: ResourceOf<T>,
  object: Finalized,
  finalizers: readonly string[],
  options: RequestOptions,
): Promise<T> {
  const { resourceVersion, ...key } = versionOf(object);
  const patch = { metadata: { resourceVersion, finalizers } };
  return (await client.patch(resource as ResourceRef, key, patch, options)) as T;
}

/** A patch of a list needs the version: it would replace items that others have added. @throws ERR_KUBELOOM_OPTION without a version */
export function versionOf(
  object: Finalized,
): Readonly<Record<'name' | 'namespace' | 'resourceVersion', string>> {
  const { name = '', namespace = '', resourceVersion = '' } = object.metadata ?? {};
  if (typeof resourceVersion !== 'string' || resourceVersion === '' || resourceVersion === '0')
    invalidOption('object.metadata.resourceVersion', resourceVersion, 'the version that was read');
  return { name, namespace, resourceVersion };
}
