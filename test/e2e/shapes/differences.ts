/** Differences between the answers of two servers to the same questions. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../../src/tools/apiserver/store/json.ts';
import type { Json } from '../../../src/tools/apiserver/store/json.ts';
import type { Answer } from './learn-rules.ts';

/** Members that differ between two creations, and members whose null a client cannot tell from an absence. */
const VOLATILE: ReadonlySet<string> = new Set([
  'uid',
  'creationTimestamp',
  'managedFields',
  'resourceVersion',
  'lastPhaseTransitionTime',
]);

function differingPaths(one: Json | undefined, other: Json | undefined, path: string): string[] {
  if (isDeepStrictEqual(one ?? null, other ?? null)) return [];
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length)
    return one.flatMap((item, index) => differingPaths(item, other[index], path));
  if (!isJsonObject(one) || !isJsonObject(other)) return [path];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names]
    .filter((name) => !VOLATILE.has(name))
    .flatMap((name) => differingPaths(one[name], other[name], path === '' ? name : `${path}.${name}`));
}

/** A creation or an update, as a line shows the question. */
function shown(verb: string, kind: string, { place, value }: Answer): string {
  const text = value === undefined ? 'left out' : JSON.stringify(value);
  return place.field === '' ? `${verb} ${kind}` : `${verb} ${kind} ${place.field}: ${text}`;
}

/** Returns a line for a question whose verdicts differ, or lines for the paths at which the stored objects differ. */
export function differences(verb: string, kind: string, real: Answer, embedded: Answer): string[] {
  // A handler of the real server that panics, and an object that a controller of the server has changed, tell nothing.
  if (real.status === 0 || real.status === 409) return [];
  if (real.status !== embedded.status)
    return [`${shown(verb, kind, real)}: ${real.status}, not ${embedded.status}`];
  if (verb !== 'create' || real.status !== 201) return [];
  return differingPaths(real.stored, embedded.stored, '').map((path) => `stored ${kind}: ${path}`);
}
