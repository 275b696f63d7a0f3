/**
 * How far a watch has come, kept without allocating: the resourceVersion as bytes, a count and a start.
 */
import { decodeStringContent } from '../json/read.ts';
import { isOlderResourceVersion } from '../kube/resource-version.ts';
import type { Progress } from './state.ts';

/** Kubernetes' have up to 20 digits; a longer one is refused as malformed. */
export const RESOURCE_VERSION_BYTES_MAX = 96;

export class WatchPosition {
  events = 0;
  readonly #bytes = Buffer.alloc(RESOURCE_VERSION_BYTES_MAX);
  #length = 0;
  /** The server has told everything up to here: it said so by a bookmark, or we have asked for what comes after. */
  #promised: string;
  readonly #openedAt: number;

  /** @param initial what the watch was asked for */
  constructor(initial: string, openedAt: number) {
    this.#promised = initial;
    this.#openedAt = openedAt;
    this.#set(initial);
  }

  /**
   * Everything up to this resourceVersion, the content of a JSON string, is in the rings. One that is older than the
   * position leaves it: to go on from there would be to hear everything since once more.
   *
   * @returns whether it is no older
   */
  moveTo(source: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    if (this.#seemsOlder(source, start, length) && this.#isOlder(Buffer.from(source.subarray(start, end)))) {
      return false;
    }
    for (let index = 0; index < length; index++) this.#bytes[index] = source[start + index] ?? 0;
    this.#length = length;
    return true;
  }

  /** This resourceVersion is behind the position. */
  isAhead(resourceVersion: string): boolean {
    return isOlderResourceVersion(resourceVersion, this.#text);
  }

  /** As `moveTo`, whatever was there before. */
  startAt(resourceVersion: string): void {
    this.#promised = resourceVersion;
    this.#set(resourceVersion);
  }

  /** The server tells of what was before the version that it was asked to go on from, or has come to. */
  isBeforePromise(resourceVersion: string): boolean {
    return isOlderResourceVersion(resourceVersion, this.#promised);
  }

  at(now: number): Progress {
    return {
      resourceVersion: this.#text,
      events: this.events,
      durationMs: now - this.#openedAt,
    };
  }

  get #text(): string {
    return decodeStringContent(this.#bytes, 0, this.#length) ?? '';
  }

  #set(resourceVersion: string): void {
    this.#length = this.#bytes.write(resourceVersion);
  }

  /** Of decimals it is right, and nothing is decoded for it. */
  #seemsOlder(source: Uint8Array, start: number, length: number): boolean {
    if (length !== this.#length) return length < this.#length;
    for (let index = 0; index < length; index++) {
      const difference = (source[start + index] ?? 0) - (this.#bytes[index] ?? 0);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  #isOlder(source: Buffer): boolean {
    return isOlderResourceVersion(decodeStringContent(source, 0, source.length) ?? '', this.#text);
  }
}
