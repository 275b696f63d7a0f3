/**
 * How far a watch has come, kept without allocating: the resourceVersion as bytes, a count and a start.
 */
import { decodeStringContent } from '../json/read.ts';
import type { Progress } from './state.ts';

/** Kubernetes' have up to 20 digits; a longer one is refused as malformed. */
export const RESOURCE_VERSION_BYTES_MAX = 96;

export class WatchPosition {
  events = 0;
  readonly #bytes = Buffer.alloc(RESOURCE_VERSION_BYTES_MAX);
  #length = 0;
  #initial: string;
  readonly #openedAt: number;

  /** @param initial what the watch was asked for */
  constructor(initial: string, openedAt: number) {
    this.#initial = initial;
    this.#openedAt = openedAt;
  }

  /** Everything up to this resourceVersion, the content of a JSON string, is in the rings. */
  moveTo(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    for (let index = 0; index < length; index++) this.#bytes[index] = source[start + index] ?? 0;
    this.#length = length;
  }

  /** As `moveTo`, for a resourceVersion that was read before. */
  startAt(resourceVersion: string): void {
    this.#initial = resourceVersion;
    this.#length = 0;
  }

  at(now: number): Progress {
    const read = decodeStringContent(this.#bytes, 0, this.#length) ?? '';
    return {
      resourceVersion: read === '' ? this.#initial : read,
      events: this.events,
      durationMs: now - this.#openedAt,
    };
  }
}
