/** The part of a CustomResourceDefinition that types are made of, checked: a file may hold anything. */
import { KubeloomError } from '../../../base/errors.ts';
import { isJsonObject } from '../../apiserver/store/json.ts';
import type { Json, JsonObject } from '../../apiserver/store/json.ts';

export interface TypedVersion {
  readonly name: string;
  readonly isServed: boolean;
  /** Empty for a version without a schema. */
  readonly schema: JsonObject;
}

export interface TypedDefinition {
  /** The file and the number of the document, or the cluster. */
  readonly place: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** The served versions, the most stable and newest first. */
  readonly versions: readonly TypedVersion[];
}

const API_VERSION = 'apiextensions.k8s.io/v1';
const KIND = 'CustomResourceDefinition';
const LISTS: readonly unknown[] = ['List', 'CustomResourceDefinitionList'];
/** Names that a server accepts for groups, kinds, resources and versions. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

/**
 * Returns the definitions of a document: of a CustomResourceDefinition, and of a List of objects. Objects of other kinds
 * count as empty.
 *
 * @throws ERR_KUBELOOM_USAGE, naming the place, for a definition that no server would accept
 */
export function definitionsIn(object: Json | undefined, place: string): TypedDefinition[] {
  if (!isJsonObject(object)) return [];
  const { apiVersion, kind, items } = object;
  if (LISTS.includes(kind) && Array.isArray(items)) {
    return items.flatMap((item, index) =>
      // In lists, servers omit kind and apiVersion of the items.
      definitionsIn(
        isJsonObject(item) && kind !== 'List' ? { apiVersion: API_VERSION, kind: KIND, ...item } : item,
        `${place}, item ${index + 1}`,
      ),
    );
  }
  if (kind !== KIND) return [];
  if (apiVersion === API_VERSION) return [definitionOf(object, place)];
  throw unusable(
    place,
    `it has the apiVersion ${JSON.stringify(apiVersion)}: types come from ${API_VERSION}`,
  );
}

function definitionOf({ spec }: JsonObject, place: string): TypedDefinition {
  const all = isJsonObject(spec) ? spec : {};
  const { group, names, scope, versions } = all;
  if (!Array.isArray(versions)) throw unusable(place, 'spec.versions is missing');
  if (scope !== 'Namespaced' && scope !== 'Cluster')
    throw unusable(place, 'spec.scope must be Namespaced or Cluster');
  const { kind, plural } = isJsonObject(names) ? names : {};
  return {
    place,
    group: nameAt('spec.group', group, place),
    kind: nameAt('spec.names.kind', kind, place),
    plural: nameAt('spec.names.plural', plural, place),
    isNamespaced: scope === 'Namespaced',
    versions: versions
      .map((version, index) => versionOf(version, `spec.versions[${index}]`, place))
      .filter(({ isServed }) => isServed)
      .toSorted((one, other) => compareVersions(one.name, other.name)),
  };
}

function versionOf(version: Json, path: string, place: string): TypedVersion {
  if (!isJsonObject(version)) throw unusable(place, `${path} is no object`);
  const { schema, served } = version;
  const root = isJsonObject(schema) ? schema['openAPIV3Schema'] : undefined;
  const name = nameAt(`${path}.name`, version['name'], place);
  return { name, isServed: served === true, schema: isJsonObject(root) ? root : {} };
}

function nameAt(path: string, value: Json | undefined, place: string): string {
  if (typeof value === 'string' && NAME.test(value)) return value;
  throw unusable(place, `${path} must be a name, got ${JSON.stringify(value) ?? 'nothing'}`);
}

const STABILITY = ['alpha', 'beta', ''];

/** Compares as kubectl chooses a version: v2 before v1, v1 before v1beta2, v1beta1 before v1alpha1, all of them before others. */
function compareVersions(one: string, other: string): number {
  const [a, b] = [rankOf(one), rankOf(other)];
  for (const [index, rank] of a.entries()) {
    const difference = (b[index] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return one < other ? -1 : 1;
}

function rankOf(version: string): readonly number[] {
  const [, major, stability = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return major === undefined ? [-1, 0, 0] : [STABILITY.indexOf(stability), Number(major), Number(minor)];
}

function unusable(place: string, why: string): KubeloomError {
  return new KubeloomError('ERR_KUBELOOM_USAGE', `${place}: ${why}`);
}
