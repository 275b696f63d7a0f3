/** Patches: the choice by the content type, JSON merge patch (RFC 7396), and the configuration of an apply. */

import { messageOf } from '../../../base/errors.ts';
import { goText } from '../store/go-text.ts';
import { isJsonObject, memberOf, setMember, textOf, writeJson } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { readDocument } from '../store/read-json.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ResourceDefinition, ServedResource } from '../store/resources.ts';
import { goType } from '../shapes/decoder.ts';
import { fieldTypeOf, groupVersionKind } from './field-ownership.ts';
import { jsonPatch, unknownOperationFields } from './json-patch.ts';
import { badRequest, unsupportedPatchType } from '../store/status.ts';
import { strategicMerge } from './strategic-merge.ts';
import { strictFaults } from './strict-faults.ts';
import { readYaml } from './yaml.ts';
import type { YamlDocument } from './yaml.ts';

const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

/** Returns the types of patches of a resource. Custom resources have no strategic merge. */
export function patchTypesOf({ custom }: ResourceDefinition): readonly string[] {
  const types = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];
  return custom === true ? types : [...types, STRATEGIC];
}

/** Strategic merge needs the Go type, so custom resources do not support it. */
export function requirePatchType(type: string, definition: ResourceDefinition): void {
  if (!patchTypesOf(definition).includes(type)) throw unsupportedPatchType(definition.custom === true);
}

/** The configuration of a server-side apply. */
export interface Configuration {
  readonly config: KubeObject;
  /** Messages about keys that a mapping repeats. */
  readonly repeated: readonly string[];
}

/**
 * Reads the configuration of a server-side apply: YAML 1.1, which includes JSON.
 *
 * @throws StatusError 400
 */
export function configurationOf(definition: ServedResource, body: Buffer): Configuration {
  const { value, repeated } = yamlOf(body.toString());
  const parsed = value ?? {};
  if (!isJsonObject(parsed)) {
    const found = Array.isArray(parsed) ? 'array' : typeof parsed;
    const why = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  const { apiVersion, kind = '' } = parsed;
  if (apiVersion !== apiVersionOf(definition) || kind !== definition.kind) {
    throw badRequest(`invalid object type: ${groupVersionKind(textOf(apiVersion ?? ''), textOf(kind))}`);
  }
  const metadata = isJsonObject(parsed['metadata']) ? parsed['metadata'] : {};
  return { config: { ...parsed, metadata }, repeated };
}

function yamlOf(text: string): YamlDocument {
  if (text.trim() === '') return { value: {}, repeated: [] };
  const { value, members } = readDocument(text);
  if (value !== undefined && members.length === 0) return { value, repeated: [] };
  try {
    const document = readYaml(text);
    return { ...document, value: value ?? document.value };
  } catch (error) {
    throw badRequest(
      `error decoding YAML: error converting YAML to JSON: yaml: ${messageOf(error).split('\n', 1).join('')}`,
    );
  }
}

/** An object with the patch of a request. */
export interface Patched {
  readonly object: JsonObject;
  /** Faults of the patch itself. */
  readonly faults: readonly string[];
  /** Returns the text of the object, or of the patch, for a refusal. */
  readonly shown: () => string;
}

/** @throws StatusError */
export function applyPatch(
  type: string,
  definition: ServedResource,
  current: KubeObject,
  body: Buffer,
): Patched {
  const { value: patch, members } = readDocument(body.toString());
  if (patch === undefined) throw badRequest('error decoding patch: the body is not valid JSON');
  if (type === JSON_PATCH) {
    const object = jsonPatch(current, patch);
    const faults = strictFaults(members, unknownOperationFields(patch));
    return { object, faults: faults.map((fault) => `json patch ${fault}`), shown: () => writeJson(object) };
  }
  const faults = strictFaults(members);
  if (patch === null && type === MERGE_PATCH) throw badRequest('Invalid JSON Patch');
  if (patch !== null && !isJsonObject(patch)) {
    const what = type === MERGE_PATCH ? 'error decoding patch: ' : '';
    throw badRequest(
      `${what}json: cannot unmarshal ${goType(patch)} into Go value of type map[string]interface {}`,
    );
  }
  if (type === MERGE_PATCH) {
    const object = mergePatch(current, patch ?? {});
    return { object, faults, shown: () => writeJson(object) };
  }
  const { apiVersion: _, kind: __, ...content } = patch ?? {};
  const object = strategicMerge(current, content, fieldTypeOf(definition));
  return { object, faults, shown: () => goText(patch) };
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
