/**
 * Compares an informer's store with the server: every key and resourceVersion, and the bytes of a sample of objects.
 * Pure.
 */
import type { CachedObject } from '../../../index.ts';

/** The server's objects. */
export interface ServerState {
  /** Key to resourceVersion of every object. */
  readonly state: ReadonlyMap<string, string>;
  /** Some of the objects, as the server sends them now. */
  readonly bytes: ReadonlyMap<string, Buffer>;
}

type StoredObject = Pick<CachedObject<unknown>, 'key' | 'resourceVersion' | 'bytes'>;

const SAMPLE_MAX = 100;
const DIFFERENCES_MAX = 5;

/** Returns keys at regular distances in the store, about a hundred at most. */
export function sampleKeys(keys: readonly string[]): ReadonlySet<string> {
  const step = Math.max(1, Math.floor(keys.length / SAMPLE_MAX));
  return new Set(keys.filter((_, index) => index % step === 0));
}

/** Returns the first few differences as text; none when they are equal. */
export function differences(entries: readonly StoredObject[], { state, bytes }: ServerState): string[] {
  const found = [...versionDifferences(entries, state), ...byteDifferences(entries, bytes)];
  return found.slice(0, DIFFERENCES_MAX);
}

function versionDifferences(
  entries: readonly Pick<StoredObject, 'key' | 'resourceVersion'>[],
  state: ReadonlyMap<string, string>,
): string[] {
  const missing = new Map(state);
  const found: string[] = [];
  for (const { key, resourceVersion } of entries) {
    const expected = missing.get(key);
    if (expected === undefined) {
      found.push(`${key}@${resourceVersion} is ${state.has(key) ? 'twice ' : ''}in the store only`);
    } else if (expected !== resourceVersion) {
      found.push(`${key} is at ${resourceVersion} in the store, at ${expected} on the server`);
    }
    missing.delete(key);
  }
  for (const [key, version] of missing) found.push(`${key}@${version} is on the server only`);
  return found;
}

function byteDifferences(entries: readonly StoredObject[], sample: ReadonlyMap<string, Buffer>): string[] {
  return entries.flatMap((entry) => {
    const expected = sample.get(entry.key);
    if (expected === undefined || entry.bytes().toString().trim() === expected.toString().trim()) return [];
    return [`the bytes of ${entry.key}@${entry.resourceVersion} are not the server's`];
  });
}
