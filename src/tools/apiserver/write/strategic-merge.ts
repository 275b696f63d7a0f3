/**
 * Strategic merge patch, as far as kubectl and server-side apply of common kinds need it. Lists of objects merge by
 * their key. The directives `$patch`, `$deleteFromPrimitiveList` and `$setElementOrder` are supported. The real server
 * takes the merge keys from Go struct tags; this table finds them by the name of the field.
 */

import { isJsonObject, memberOf, setMember } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';

const MERGE_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['containers', ['name']],
  ['initContainers', ['name']],
  ['ephemeralContainers', ['name']],
  ['volumes', ['name']],
  ['env', ['name']],
  ['imagePullSecrets', ['name']],
  ['secrets', ['name']],
  ['ports', ['containerPort', 'port']],
  ['volumeMounts', ['mountPath']],
  ['volumeDevices', ['devicePath']],
  ['hostAliases', ['ip']],
  ['conditions', ['type']],
  ['addresses', ['type']],
  ['ownerReferences', ['uid']],
  ['topologySpreadConstraints', ['topologyKey']],
]);

/** Lists of plain values that merge as sets. */
const SETS = new Set(['finalizers']);
const DELETE_VALUES = '$deleteFromPrimitiveList/';

export function strategicMerge(target: JsonObject, patch: JsonObject): JsonObject {
  if (patch['$patch'] === 'replace') return withoutDirectives(patch);
  const result: JsonObject = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(DELETE_VALUES)) {
      const field = name.slice(DELETE_VALUES.length);
      const dead = new Set(Array.isArray(value) ? value : []);
      const present = memberOf(result, field);
      setMember(result, field, Array.isArray(present) ? present.filter((entry) => !dead.has(entry)) : []);
    } else if (name.startsWith('$')) {
      continue;
    } else if (value === null) {
      delete result[name];
    } else {
      setMember(result, name, mergeField(name, memberOf(result, name), value));
    }
  }
  return result;
}

function mergeField(name: string, target: Json | undefined, patch: Json | undefined): Json | undefined {
  if (isJsonObject(patch)) return strategicMerge(isJsonObject(target) ? target : {}, patch);
  if (!Array.isArray(patch)) return patch;
  const present = Array.isArray(target) ? target : [];
  if (SETS.has(name)) return [...new Set([...present, ...patch])];
  const key = mergeKey(name, [...present, ...patch]);
  return key === undefined ? patch : mergeList(key, present, patch);
}

/** Returns the first candidate that all entries have, except directives. */
function mergeKey(name: string, entries: readonly Json[]): string | undefined {
  const objects = entries.filter((entry) => isJsonObject(entry));
  if (objects.length !== entries.length) return undefined;
  const keyed = objects.filter((entry) => entry['$patch'] !== 'replace');
  return MERGE_KEYS.get(name)?.find((key) => keyed.every((entry) => entry[key] !== undefined));
}

function mergeList(key: string, target: readonly Json[], patch: readonly Json[]): Json[] {
  const entries = patch.filter((entry) => isJsonObject(entry));
  if (entries.some((entry) => entry['$patch'] === 'replace')) {
    return entries.filter((entry) => entry['$patch'] !== 'replace');
  }
  const result = target.filter((entry) => isJsonObject(entry));
  for (const entry of entries) {
    const index = result.findIndex((candidate) => candidate[key] === entry[key]);
    if (entry['$patch'] === 'delete') {
      if (index >= 0) result.splice(index, 1);
    } else if (index >= 0) {
      result[index] = strategicMerge(result[index] ?? {}, entry);
    } else {
      result.push(withoutDirectives(entry));
    }
  }
  return result;
}

function withoutDirectives(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !name.startsWith('$')));
}
