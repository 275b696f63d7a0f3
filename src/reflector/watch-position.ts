/**
 * The progress of a watch, kept without allocating: the resourceVersion as bytes, a count and a start time.
 */
import { decodeStringContent } from '../kube/json/read.ts';
import { isOlderResourceVersion } from '../kube/resource-version.ts';
import { RESOURCE_VERSION_BYTES_MAX } from '../shared/record/limits.ts';
import type { Progress } from './rules/state.ts';

export class WatchPosition {
  events = 0;
  readonly #bytes = Buffer.alloc(RESOURCE_VERSION_BYTES_MAX);
  #length = 0;
  /**
   * The version up to which the server has sent every event: a bookmark said so, or the watch began after
   * it.
   */
  #promised: string;
  readonly #openedAt: number;

  /** @param initial the resourceVersion of the request */
  constructor(initial: string, openedAt: number) {
    this.#promised = initial;
    this.#openedAt = openedAt;
    this.#set(initial);
  }

  /**
   * Moves to this resourceVersion (the content of a JSON string): every event up to it is in the rings. An
   * older one leaves the position: a watch from there would receive every event since a second time.
   *
   * @returns false when it is older than the position
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

  /** Returns whether the position is newer than this resourceVersion. */
  isAhead(resourceVersion: string): boolean {
    return isOlderResourceVersion(resourceVersion, this.#text);
  }

  /** Sets the position, also to an older version. */
  startAt(resourceVersion: string): void {
    this.#promised = resourceVersion;
    this.#set(resourceVersion);
  }

  /** Returns whether an event is older than the version that the request or a bookmark gave. */
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

  /** Compares versions without decoding; exact for decimal numbers. */
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
