/**
 * Which patch a content type means.
 */

import { jsonPatch, mergePatch } from './json-patch.ts';
import { isJsonObject } from './json.ts';
import type { Json, JsonObject, KubeObject } from './json.ts';
import type { ResourceDefinition } from './resources.ts';
import { badRequest, unsupportedPatchType } from './status.ts';
import { strategicMerge } from './strategic-merge.ts';

const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
/** Server-side apply: merged like a strategic patch, without ownership of fields. */
export const APPLY_PATCH = 'application/apply-patch+yaml';

/** Strategic merge needs to know the Go type, so custom resources do not have it. */
export function requirePatchType(type: string, definition: ResourceDefinition): void {
  if (type === STRATEGIC && definition.custom !== true) return;
  if (type !== JSON_PATCH && type !== MERGE_PATCH && type !== APPLY_PATCH) throw unsupportedPatchType();
}

export function applyPatch(type: string, current: KubeObject, patch: Json): JsonObject {
  if (type === JSON_PATCH) return jsonPatch(current, patch);
  if (!isJsonObject(patch)) throw badRequest('Invalid JSON Patch');
  const merged = type === MERGE_PATCH ? mergePatch(current, patch) : strategicMerge(current, patch);
  return isJsonObject(merged) ? merged : current;
}
