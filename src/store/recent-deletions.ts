/**
 * The deletions that were told last. Of an object that is gone nothing is known any more, so that a server's second
 * telling of its deletion would look like the deletion of an object that was never seen, which is told.
 */
import { isOlderResourceVersion } from '../kube/resource-version.ts';

/** A server that repeats itself repeats what it has just said. */
export const RECENT_DELETIONS_MAX = 256;

export class RecentDeletions {
  /** Key → version, the oldest first. */
  readonly #versions: Map<string, number | string> = new Map();

  add(key: string, version: number | string): void {
    this.#versions.delete(key);
    this.#versions.set(key, version);
    if (this.#versions.size <= RECENT_DELETIONS_MAX) return;
    const oldest = this.#versions.keys().next().value;
    if (oldest !== undefined) this.#versions.delete(oldest);
  }

  /** Whether this one, or a later one of the same key, was told. */
  has(key: string, version: number | string): boolean {
    const known = this.#versions.get(key);
    if (known === undefined) return false;
    return known === version || isOlderResourceVersion(String(version), String(known));
  }
}
