/**
 * Newest version of every key of one informer in one shard, by id. Without it, an event that a server repeats, or sends
 * after a newer one, would set the cache back to an older state.
 *
 * Versions of an open relist are kept apart, like the main thread's second state. When the relist is aborted, the watch
 * may resume before it, and the events that follow are new.
 *
 * ```
 *  numbers  Float64Array by id   the version, or -1 for text: eight bytes a key
 *  texts    by id                versions from 2^53 on, and opaque ones
 * ```
 */
import { isOlderResourceVersion } from '../kube/resource-version.ts';

export type VersionOrder = 'newer' | 'same' | 'older';

const NUMBERS_MIN = 64;

export class KeyVersions {
  #live: VersionTable = new VersionTable();
  #listed: VersionTable | undefined;

  /** Begins a relist; drops the versions of an open one. */
  begin(): void {
    this.#listed = new VersionTable();
  }

  /** Makes the listed versions the live ones. */
  end(): void {
    if (this.#listed) this.#live = this.#listed;
    this.#listed = undefined;
  }

  abort(): void {
    this.#listed = undefined;
  }

  /** Restores the versions of a key that the main thread has, in the successor of a shard. */
  restore(id: number, live: number | string | undefined, listed: number | string | undefined): void {
    this.#live.restore(id, live);
    this.#listed?.restore(id, listed);
  }

  /** @param text the version, if it is no number below 2^53 */
  set(id: number, number: number, text: string | undefined): void {
    (this.#listed ?? this.#live).set(id, number, text);
  }

  /** Compares a version with the live one of the id. Counts an opaque version that differs as newer. */
  orderOf(id: number, number: number, text: string | undefined): VersionOrder {
    return this.#live.orderOf(id, number, text);
  }
}

class VersionTable {
  #numbers: Float64Array = new Float64Array(NUMBERS_MIN);
  readonly #texts = new Map<number, string>();

  set(id: number, number: number, text: string | undefined): void {
    if (id >= this.#numbers.length) this.#grow(id);
    this.#numbers[id] = number;
    if (text !== undefined) this.#texts.set(id, text);
    else if (this.#texts.size > 0) this.#texts.delete(id);
  }

  restore(id: number, version: number | string | undefined): void {
    if (typeof version === 'number') this.set(id, version, undefined);
    else if (version !== undefined) this.set(id, -1, version);
  }

  orderOf(id: number, number: number, text: string | undefined): VersionOrder {
    const known = this.#numbers[id] ?? -1;
    if (text === undefined && known >= 0) {
      if (number === known) return 'same';
      return number < known ? 'older' : 'newer';
    }
    const before = this.#texts.get(id) ?? String(known);
    const now = text ?? String(number);
    if (now === before) return 'same';
    return isOlderResourceVersion(now, before) ? 'older' : 'newer';
  }

  #grow(id: number): void {
    const numbers = new Float64Array(Math.max(id + 1, this.#numbers.length * 2));
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}
