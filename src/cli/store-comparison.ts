/**
 * Does an informer's store equal the server? Every key and resourceVersion, and the bytes of a sample of
 * objects, each fetched with a GET of its own.
 */
import type { EmbeddedApiServer } from '../embedded/embedded-server.ts';
import { resourcePath } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { CachedObject } from '../store/entry.ts';
import type { Store } from '../store/indexer.ts';
import type { ApiClient } from './api-get.ts';

const SAMPLE_MAX = 100;
const DIFFERENCES_MAX = 5;

/** The first few differences in words; none when they are equal. */
export async function differences(
  store: Store<unknown>,
  ref: ResourceRef,
  server: EmbeddedApiServer,
  client: ApiClient,
): Promise<string[]> {
  const entries = store.list();
  const versions = versionDifferences(entries, await server.state(ref.resource));
  if (versions.length > 0) return versions.slice(0, DIFFERENCES_MAX);
  const step = Math.max(1, Math.floor(entries.length / SAMPLE_MAX));
  const found: string[] = [];
  for (let index = 0; index < entries.length && found.length < DIFFERENCES_MAX; index += step) {
    const entry = entries[index];
    if (entry) found.push(...(await byteDifferences(entry, ref, client)));
  }
  return found;
}

/** Pure: what the store has, against key and resourceVersion of everything the server has. */
export function versionDifferences(
  entries: readonly Pick<CachedObject<unknown>, 'key' | 'resourceVersion'>[],
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

async function byteDifferences(
  entry: CachedObject<unknown>,
  ref: ResourceRef,
  client: ApiClient,
): Promise<string[]> {
  const answer = await client.get(`${resourcePath(ref, entry.namespace)}/${encodeURIComponent(entry.name)}`);
  if (answer.toString().trim() === entry.bytes().toString().trim()) return [];
  return [`the bytes of ${entry.key}@${entry.resourceVersion} are not the server's`];
}
