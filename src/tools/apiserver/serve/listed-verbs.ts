/**
 * The verbs of each resource and subresource: discovery prints them, and every other verb is refused. A path without any
 * verb is a 404, a verb that discovery does not list is a 405.
 */

import type { ServedResource } from '../store/resources.ts';
import { apiVersionOf } from '../store/resources.ts';
import {
  methodNotAllowed,
  nameMissing,
  notFound,
  unknownResource,
  unsupportedVerb,
} from '../store/status.ts';
import type { ResourcePath } from '../wire/request-info.ts';

/** A subresource as discovery lists it. */
export interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind of the bodies, if other than the kind of the resource. */
  readonly body?: { readonly group?: string; readonly version?: string; readonly kind: string };
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const WRITTEN = ['get', 'patch', 'update'];
const STATUS: Subresource = { name: 'status', verbs: WRITTEN };
const SCALE: Subresource = {
  name: 'scale',
  verbs: WRITTEN,
  body: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
};
const EVICTION = { group: 'policy', version: 'v1', kind: 'Eviction' };
/** The further subresources of built-in resources, by the version and name of the resource. */
const FURTHER: ReadonlyMap<string, readonly Subresource[]> = new Map([
  [
    'v1 pods',
    [
      { name: 'binding', verbs: ['create'], body: { kind: 'Binding' } },
      { name: 'eviction', verbs: ['create'], body: EVICTION },
    ],
  ],
  ['v1 namespaces', [{ name: 'finalize', verbs: ['update'] }]],
]);

/** The verb of each method, by the shape of the path. */
const ALL_NAMESPACES = new Map([['GET', 'list']]);
const COLLECTION = new Map([...ALL_NAMESPACES, ['POST', 'create'], ['DELETE', 'deletecollection']]);
const ITEM = new Map([
  ['GET', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const SUBRESOURCE = new Map([...ITEM, ['POST', 'create']]);

export function verbsOf({ verbs = VERBS }: ServedResource): readonly string[] {
  return verbs;
}

export function subresourcesOf(definition: ServedResource): readonly Subresource[] {
  const { status, scale, resource } = definition;
  return [
    ...(FURTHER.get(`${apiVersionOf(definition)} ${resource}`) ?? []),
    ...(status === true ? [STATUS] : []),
    ...(scale === undefined ? [] : [SCALE]),
  ];
}

/**
 * Returns the verb of a request; undefined if a custom resource has no such path, which a cluster answers as it answers an
 * unknown group.
 *
 * @throws StatusError 404 and 405
 */
export function listedVerb(
  definition: ServedResource,
  path: ResourcePath,
  method: string,
): string | undefined {
  const { custom, namespaced } = definition;
  const { namespace, name, subresource } = path;
  const isAcross = namespaced && namespace === '';
  if (custom === true) return verbOfCustom(definition, path, method === 'HEAD' ? 'GET' : method);
  const isMisplaced = isAcross ? name !== '' : !namespaced && namespace !== '';
  const part = subresourcesOf(definition).find((each) => each.name === subresource);
  const listed = subresource === '' ? verbsOf(definition) : (part?.verbs ?? []);
  const inItem = subresource === '' ? ITEM : SUBRESOURCE;
  const shape = name !== '' ? inItem : isAcross ? ALL_NAMESPACES : COLLECTION;
  if (isMisplaced || ![...shape.values()].some((verb) => listed.includes(verb))) throw unknownResource();
  const verb = shape.get(method);
  if (verb === undefined || !listed.includes(verb)) throw methodNotAllowed();
  return verb;
}

/** Custom resources have a router of their own, which decides by the verb before it decides by the path. */
function verbOfCustom(
  definition: ServedResource,
  { namespace, name, subresource }: ResourcePath,
  method: string,
): string | undefined {
  const { namespaced } = definition;
  const verb = (name === '' ? COLLECTION : SUBRESOURCE).get(method) ?? ITEM.get(method);
  if (namespaced ? namespace === '' && verb !== 'list' : namespace !== '') return undefined;
  const part = subresourcesOf(definition).find((each) => each.name === subresource.split('/')[0]);
  if (subresource !== '' && part === undefined) throw notFound(definition, name);
  if (verb === undefined || !(part?.verbs ?? verbsOf(definition)).includes(verb))
    throw unsupportedVerb(definition, verb ?? '');
  if (name === '' && ITEM.has(method) && !COLLECTION.has(method)) throw nameMissing();
  return verb;
}
