/** Patches: the choice by the content type, JSON merge patch (RFC 7396), and the configuration of an apply. */

import { messageOf } from '../../../base/errors.ts';
import { parseJson } from '../../../base/parse-json.ts';
import { isJsonObject, memberOf, setMember, textOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ResourceDefinition, ServedResource } from '../store/resources.ts';
import { fieldTypeOf, groupVersionKind } from './field-ownership.ts';
import { jsonPatch } from './json-patch.ts';
import { badRequest, unsupportedPatchType } from '../store/status.ts';
import { strategicMerge } from './strategic-merge.ts';
import { readYaml } from './yaml.ts';

const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

/** Strategic merge needs the Go type, so custom resources do not support it. */
export function requirePatchType(type: string, definition: ResourceDefinition): void {
  if (type === STRATEGIC && definition.custom !== true) return;
  if (type !== JSON_PATCH && type !== MERGE_PATCH && type !== APPLY_PATCH)
    throw unsupportedPatchType(definition.custom === true);
}

/**
 * Returns the configuration of a server-side apply: YAML 1.1, which includes JSON.
 *
 * @throws StatusError 400
 */
export function configurationOf(definition: ServedResource, body: Buffer): KubeObject {
  const parsed = yamlOf(body) ?? {};
  if (!isJsonObject(parsed)) {
    const found = Array.isArray(parsed) ? 'array' : typeof parsed;
    const why = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  const { apiVersion, kind = '' } = parsed;
  if (apiVersion !== apiVersionOf(definition) || kind !== definition.kind) {
    throw badRequest(`invalid object type: ${groupVersionKind(textOf(apiVersion ?? ''), textOf(kind))}`);
  }
  return { ...parsed, metadata: isJsonObject(parsed['metadata']) ? parsed['metadata'] : {} };
}

function yamlOf(body: Buffer): Json {
  const text = body.toString();
  if (text.trim() === '') return {};
  const json = parseJson(text) as Json | undefined;
  if (json !== undefined) return json;
  try {
    return readYaml(text);
  } catch (error) {
    throw badRequest(
      `error decoding YAML: error converting YAML to JSON: yaml: ${messageOf(error).split('\n', 1).join('')}`,
    );
  }
}

/** Returns the object with the patch of a request. @throws StatusError */
export function applyPatch(
  type: string,
  definition: ServedResource,
  current: KubeObject,
  body: Buffer,
): JsonObject {
  const patch = parseJson(body.toString()) as Json | undefined;
  if (patch === undefined) throw badRequest('error decoding patch: the body is not valid JSON');
  if (type === JSON_PATCH) return jsonPatch(current, patch);
  if (patch === null && type === MERGE_PATCH) throw badRequest('Invalid JSON Patch');
  if (patch !== null && !isJsonObject(patch)) {
    const found = Array.isArray(patch) ? 'array' : typeof patch;
    const what = type === MERGE_PATCH ? 'error decoding patch: ' : '';
    throw badRequest(`${what}json: cannot unmarshal ${found} into Go value of type map[string]interface {}`);
  }
  if (type === MERGE_PATCH) return mergePatch(current, patch ?? {});
  const { apiVersion: _, kind: __, ...content } = patch ?? {};
  return strategicMerge(current, content, fieldTypeOf(definition));
}

/** Merges by RFC 7396: objects merge, null removes, all other values replace. */
function mergePatch(target: Json | undefined, patch: JsonObject): JsonObject {
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else
      setMember(
        result,
        name,
        isJsonObject(value) ? mergePatch(memberOf(result, name), value) : withoutNulls(value),
      );
  }
  return result;
}

/** Returns a list of a patch without the null members of the objects in the list. */
function withoutNulls(value: Json | undefined): Json | undefined {
  if (!Array.isArray(value)) return value;
  return value.map((item) => (isJsonObject(item) ? mergePatch({}, item) : (withoutNulls(item) ?? null)));
}
