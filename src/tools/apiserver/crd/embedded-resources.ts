/**
 * Objects inside custom resources (`x-kubernetes-embedded-resource`): their metadata is decoded, pruned and checked as the
 * metadata of every object.
 */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, setMember, textOf, writeJson } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import type { ServedResource } from '../store/resources.ts';
import { StatusError, badRequest, quote } from '../store/status.ts';
import { metadataErrors } from '../write/metadata-rules.ts';
import { decodeMetadata } from '../shapes/decoder.ts';
import { EMBEDDED } from './schema-node.ts';
import { memberNode } from './validation-correlation.ts';

/** Names of embedded objects follow the rule for names in this group: a name fits into a URL. */
const PATH_SEGMENTS = 'rbac.authorization.k8s.io';
const KIND = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const KIND_LENGTH_MAX = 63;
const KIND_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** True for a schema with an embedded object; values of any other schema need no walk. */
export function containsEmbedded(node: JsonObject): boolean {
  const { properties, additionalProperties, items } = node;
  const below = [...Object.values(isJsonObject(properties) ? properties : {}), additionalProperties, items];
  return node[EMBEDDED] === true || below.some((child) => isJsonObject(child) && containsEmbedded(child));
}

/** Calls `visit` for each value of a tree, with the node and the path; replaces values by what `visit` returns. */
function visited(
  value: Json,
  node: JsonObject | undefined,
  path: string,
  visit: (object: JsonObject, path: string) => JsonObject,
): Json {
  if (node === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = isJsonObject(node['items']) ? node['items'] : undefined;
    return items === undefined
      ? value
      : value.map((item, index) => visited(item, items, `${path}[${index}]`, visit));
  }
  const result = node[EMBEDDED] === true ? visit(value, path) : { ...value };
  for (const [name, member] of Object.entries(result)) {
    const child = memberNode(node, name);
    if (child === undefined || member === undefined) continue;
    const inside =
      path === '' ? name : isJsonObject(node['properties']) ? `${path}.${name}` : `${path}[${name}]`;
    setMember(result, name, visited(member, child, inside, visit));
  }
  return result;
}

/** Returns the object with decoded metadata in embedded objects. @throws StatusError 400 */
export function decodedEmbedded(object: KubeObject, root: JsonObject, unknown: string[]): KubeObject {
  const { kind = '', apiVersion = '' } = object;
  const version = apiVersion.split('/').at(-1) ?? '';
  const definition: ServedResource = {
    group: '',
    version,
    resource: '',
    kind,
    namespaced: true,
    custom: true,
  };
  const prefix = `${kind} in version ${quote(version)} cannot be handled as a ${kind}: `;
  const decoded = visited(object, root, '', (embedded, path) => {
    const result: JsonObject = { ...embedded };
    for (const name of ['apiVersion', 'kind']) {
      const value = embedded[name];
      if (value === undefined || typeof value === 'string') continue;
      throw badRequest(`${prefix}${path}.${name}: Invalid value: ${writeJson(value)}: must be a string`);
    }
    const given = embedded['metadata'];
    if (given === undefined) return result;
    try {
      const fields: string[] = [];
      result['metadata'] = decodeMetadata(definition, fields, given);
      unknown.push(...fields.map((field) => `${path}.${field}`));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const why = error.message.slice(prefix.length);
      throw badRequest(`${prefix}${path}.metadata: Invalid value: ${writeJson(given)}: ${why}`);
    }
    return result;
  });
  return decoded as KubeObject;
}

/** Returns the broken rules of embedded objects. */
export function embeddedErrors(object: KubeObject, root: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  visited(object, root, '', (embedded, path) => {
    const { apiVersion, kind } = embedded;
    for (const [name, value] of Object.entries({ apiVersion, kind })) {
      const field = path === '' ? name : `${path}.${name}`;
      const why = value === undefined ? undefined : typeError(name, textOf(value));
      if (value === undefined) errors.push({ type: 'FieldValueRequired', field, body: 'Required value' });
      if (why !== undefined) {
        errors.push({
          type: 'FieldValueInvalid',
          field,
          body: `Invalid value: ${writeJson(value)}: ${why}`,
        });
      }
    }
    const metadata = isJsonObject(embedded['metadata']) ? embedded['metadata'] : {};
    const definition: ServedResource = {
      group: PATH_SEGMENTS,
      version: '',
      resource: '',
      kind: '',
      namespaced: true,
      custom: true,
    };
    for (const error of path === '' ? [] : metadataErrors(definition, { ...embedded, metadata }, undefined))
      errors.push({ ...error, field: `${path}.${error.field}` });
    return embedded;
  });
  return errors;
}

function typeError(name: string, value: string): string | undefined {
  if (value === '') return 'must not be empty';
  if (name === 'apiVersion')
    return value.split('/').length > 2 ? `unexpected GroupVersion string: ${value}` : undefined;
  const rules = [
    ...(value.length > KIND_LENGTH_MAX ? [`must be no more than ${KIND_LENGTH_MAX} bytes`] : []),
    ...(KIND.test(value.toLowerCase()) ? [] : [KIND_RULE]),
  ];
  return rules.length === 0
    ? undefined
    : `may have mixed case, but should otherwise match: ${rules.join(',')}`;
}
