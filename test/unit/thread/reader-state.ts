/** The state of a reading thread, which its parent compares with its own cache. */
import type { CachedObject } from '../../../src/index.ts';
import { bodyHash } from '../../sim/oracle/body-hash.ts';

export interface ReaderState {
  /** As `stateOf`. */
  readonly cached: readonly string[];
  /** Versions of the objects as the handler has received them: `ns/a@5`. */
  readonly received: readonly string[];
  readonly errors: readonly string[];
}

/** The objects of a cache as `ns/a@5` with the hash of their bytes, by key. */
export function stateOf(indexer: { readonly list: () => readonly CachedObject<unknown>[] }): string[] {
  return indexer
    .list()
    .map((entry) => `${entry.key}@${entry.resourceVersion} ${bodyHash(entry.bytes().toString())}`)
    .sort();
}
