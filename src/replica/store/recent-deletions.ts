/**
 * Remembers the last 256 deletions, so that a repeated DELETED event is dropped instead of delivered as the deletion of
 * an object that was never seen. The replica keeps nothing else about deleted objects.
 */
import { isOlderResourceVersion } from '../../kube/resource-version.ts';

/** A server that repeats an event repeats one of the latest. */
export const RECENT_DELETIONS_MAX = 256;

export class RecentDeletions {
  /** Versions by key, the oldest first. */
  readonly #versions: Map<string, number | string> = new Map();

  add(key: string, version: number | string): void {
    this.#versions.delete(key);
    this.#versions.set(key, version);
    if (this.#versions.size <= RECENT_DELETIONS_MAX) return;
    const oldest = this.#versions.keys().next().value;
    if (oldest !== undefined) this.#versions.delete(oldest);
  }

  /** Returns whether this deletion, or a later one of the same key, was recorded. */
  has(key: string, version: number | string): boolean {
    const known = this.#versions.get(key);
    if (known === undefined) return false;
    return known === version || isOlderResourceVersion(String(version), String(known));
  }
}
