/**
 * The newest version of every key of one informer in one shard, by id. A server that sends an event twice, or an old
 * one after a new one, would otherwise take the cache back in time.
 *
 * What an open relist shows is kept apart, as the main thread keeps its shadow: when the relist is given up, the watch
 * may go on from before it, and what comes then is news.
 *
 * ```
 *  numbers  Float64Array by id   the version, -1 when it is text: eight bytes a key
 *  texts    by id                versions of 2^53 and above, and opaque ones
 * ```
 */
import { isOlderResourceVersion } from '../kube/resource-version.ts';

export type VersionOrder = 'newer' | 'same' | 'older';

const NUMBERS_MIN = 64;

export class KeyVersions {
  #live: VersionTable = new VersionTable();
  #listed: VersionTable | undefined;

  /** A relist has begun; one that was open is given up. */
  begin(): void {
    this.#listed = new VersionTable();
  }

  /** What it has shown is all there is. */
  end(): void {
    if (this.#listed) this.#live = this.#listed;
    this.#listed = undefined;
  }

  abort(): void {
    this.#listed = undefined;
  }

  /** @param text of a version that is no number below 2^53 */
  set(id: number, number: number, text: string | undefined): void {
    (this.#listed ?? this.#live).set(id, number, text);
  }

  /** How a version relates to the live one of the id, if it has one. Opaque ones that differ count as newer. */
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
