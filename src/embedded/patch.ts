/**
 * Which patch a content type means.
 */

import { jsonPatch, mergePatch } from './json-patch.ts';
import { isJsonObject } from './json.ts';
import type { Json, JsonObject, KubeObject } from './json.ts';
import type { ResourceDefinition } from './resources.ts';
import { badRequest, unsupportedMediaType } from './status.ts';
import { strategicMerge } from './strategic-merge.ts';

const STRATEGIC = 'application/strategic-merge-patch+json';
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
  STRATEGIC,
];

export function applyPatch(
  type: string,
  current: KubeObject,
  patch: Json,
  definition: ResourceDefinition,
): JsonObject {
  // Strategic merge needs to know the Go type, so custom resources do not have it.
  const known = PATCH_TYPES.filter((candidate) => candidate !== STRATEGIC || definition.custom !== true);
  if (!known.includes(type)) throw unsupportedMediaType(known);
  if (type === 'application/json-patch+json') return jsonPatch(current, patch);
  if (!isJsonObject(patch)) throw badRequest('Invalid JSON Patch');
  const merged =
    type === 'application/merge-patch+json' ? mergePatch(current, patch) : strategicMerge(current, patch);
  return isJsonObject(merged) ? merged : current;
}
