/** Patches: the one that a content type selects, JSON merge patch (RFC 7396) and JSON patch (RFC 6902). */

import { CORE_SCHEMA, load as loadYaml } from 'js-yaml';
import { messageOf } from '../../../base/errors.ts';
import { parseJson } from '../../../base/parse-json.ts';
import { isJsonObject, memberOf, setMember, textOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ResourceDefinition, ServedResource } from '../store/resources.ts';
import { groupVersionKind } from './field-ownership.ts';
import { badRequest, unprocessable, unsupportedPatchType } from '../store/status.ts';
import { strategicMerge } from './strategic-merge.ts';

const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

/** Strategic merge needs the Go type, so custom resources do not support it. */
export function requirePatchType(type: string, definition: ResourceDefinition): void {
  if (type === STRATEGIC && definition.custom !== true) return;
  if (type !== JSON_PATCH && type !== MERGE_PATCH && type !== APPLY_PATCH) throw unsupportedPatchType();
}

/**
 * Returns the configuration of a server-side apply: YAML without tags, of which JSON is a part. Its nulls are absent fields.
 *
 * @throws StatusError 400
 */
export function configurationOf(definition: ServedResource, body: Buffer): KubeObject {
  const parsed = yamlOf(body);
  if (!isJsonObject(parsed)) {
    const found = Array.isArray(parsed) ? 'array' : typeof parsed;
    const why = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  const { apiVersion, kind = '' } = parsed;
  if (apiVersion !== apiVersionOf(definition) || kind !== definition.kind) {
    throw badRequest(`invalid object type: ${groupVersionKind(textOf(apiVersion ?? ''), textOf(kind))}`);
  }
  const object = withoutNulls(parsed);
  return { ...object, metadata: isJsonObject(object['metadata']) ? object['metadata'] : {} };
}

function yamlOf(body: Buffer): Json {
  const text = body.toString();
  if (text.trim() === '') return {};
  const json = parseJson(text) as Json | undefined;
  if (json !== undefined) return json;
  try {
    return (loadYaml(text, { schema: CORE_SCHEMA }) ?? {}) as Json;
  } catch (error) {
    throw badRequest(
      `error decoding YAML: error converting YAML to JSON: yaml: ${messageOf(error).split('\n', 1).join('')}`,
    );
  }
}

function withoutNulls(object: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value !== null) setMember(result, name, isJsonObject(value) ? withoutNulls(value) : value);
  }
  return result;
}

export function applyPatch(type: string, current: KubeObject, patch: Json): JsonObject {
  if (type === JSON_PATCH) return jsonPatch(current, patch);
  if (!isJsonObject(patch)) throw badRequest('Invalid JSON Patch');
  const merged = type === MERGE_PATCH ? mergePatch(current, patch) : strategicMerge(current, patch);
  return isJsonObject(merged) ? merged : current;
}

/** Merges by RFC 7396: objects merge, null removes, everything else replaces. */
function mergePatch(target: Json | undefined, patch: Json | undefined): Json | undefined {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else setMember(result, name, mergePatch(memberOf(result, name), value));
  }
  return result;
}

interface Operation {
  readonly op?: string;
  readonly path?: string;
  readonly from?: string;
  readonly value?: Json;
}

/** A value in which the document is the member '': the path '' and the path '/a' begin with that name. */
type Holder = JsonObject;

/** Applies an RFC 6902 patch to a copy. */
function jsonPatch(target: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch)) {
    const why = 'json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp';
    throw badRequest(`error decoding patch: ${why}`);
  }
  const holder: Holder = { '': structuredClone(target) };
  for (const entry of patch) applyOperation(holder, entry as Operation);
  const root = holder[''];
  if (!isJsonObject(root)) throw unprocessable();
  return root;
}

function applyOperation(holder: Holder, operation: Operation): void {
  const { op = '', path = '', from = '', value = null } = operation;
  switch (op) {
    case 'add':
      return put(holder, path, value, true);
    case 'replace':
      read(holder, path);
      return put(holder, path, value, false);
    case 'remove':
      return remove(holder, path);
    case 'copy':
      return put(holder, path, structuredClone(read(holder, from)), true);
    case 'move': {
      const moved = read(holder, from);
      remove(holder, from);
      return put(holder, path, moved, true);
    }
    case 'test':
      if (JSON.stringify(read(holder, path)) === JSON.stringify(value)) return;
      throw unprocessable();
    default:
      throw unprocessable();
  }
}

interface Place {
  readonly parent: Json[] | JsonObject;
  readonly name: string;
}

function place(holder: Holder, path: string): Place {
  const parts = path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (parts[0] !== '') throw unprocessable();
  const name = parts.pop() ?? '';
  let parent: Json | undefined = holder;
  for (const part of parts) parent = elementOf(parent, part);
  if (!Array.isArray(parent) && !isJsonObject(parent)) throw unprocessable();
  return { parent, name };
}

function elementOf(parent: Json | undefined, name: string): Json | undefined {
  return Array.isArray(parent) ? parent[Number(name)] : memberOf(parent, name);
}

function read(holder: Holder, path: string): Json {
  const { parent, name } = place(holder, path);
  const value = elementOf(parent, name);
  if (value === undefined) throw unprocessable();
  return value;
}

function put(holder: Holder, path: string, value: Json, insert: boolean): void {
  const { parent, name } = place(holder, path);
  if (!Array.isArray(parent)) {
    setMember(parent, name, value);
    return;
  }
  const index = name === '-' ? parent.length : Number(name);
  if (!Number.isInteger(index) || index < 0 || index > parent.length) throw unprocessable();
  parent.splice(index, insert ? 0 : 1, value);
}

function remove(holder: Holder, path: string): void {
  read(holder, path);
  const { parent, name } = place(holder, path);
  if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete parent[name];
}
