/**
 * Who was in a streaming list and at which version, to be compared with a list at the same version. Kept
 * only for informers that want it, and only up to a limit.
 */
import { decodeStringContent } from '../json/read.ts';
import type { KeySpans } from '../json/key-spans.ts';

/** About 60 MB of heap. */
export const OBJECTS_MAX = 250_000;
const NAMED_MAX = 3;

interface Streamed {
  readonly version: string;
  /** The last comparison that has found it. */
  foundIn: number;
}

export class StreamedObjects {
  readonly #objects = new Map<string, Streamed>();
  readonly #objectsMax: number;
  #comparison = 0;
  #found = 0;
  #onlyListed: string[] = [];
  #different: string[] = [];
  #differences = 0;
  #isTooMany = false;

  constructor(objectsMax: number = OBJECTS_MAX) {
    this.#objectsMax = objectsMax;
  }

  /** There were more than can be kept: nothing can be said. */
  get isTooMany(): boolean {
    return this.#isTooMany;
  }

  put(bytes: Buffer, spans: KeySpans): void {
    if (this.#objects.size >= this.#objectsMax) {
      this.#isTooMany = true;
      this.#objects.clear();
    }
    if (!this.#isTooMany) {
      this.#objects.set(keyOf(bytes, spans), { version: versionOf(bytes, spans), foundIn: 0 });
    }
  }

  delete(bytes: Buffer, spans: KeySpans): void {
    this.#objects.delete(keyOf(bytes, spans));
  }

  /** Begins a comparison; what an earlier one found is forgotten. */
  compare(): void {
    this.#comparison++;
    this.#found = 0;
    this.#differences = 0;
    this.#onlyListed = [];
    this.#different = [];
  }

  /** One item of the list. */
  listed(bytes: Buffer, spans: KeySpans): void {
    const key = keyOf(bytes, spans);
    const streamed = this.#objects.get(key);
    if (!streamed) {
      this.#note(this.#onlyListed, key);
      return;
    }
    if (streamed.foundIn !== this.#comparison) this.#found++;
    streamed.foundIn = this.#comparison;
    if (streamed.version !== versionOf(bytes, spans)) this.#note(this.#different, key);
  }

  /** The list is complete. @returns what differs, in words, or undefined */
  differences(): string | undefined {
    const onlyStreamed: string[] = [];
    if (this.#found < this.#objects.size) {
      for (const [key, { foundIn }] of this.#objects) {
        if (foundIn !== this.#comparison) this.#note(onlyStreamed, key);
      }
    }
    if (this.#differences === 0) return undefined;
    const parts = [
      ['only in the stream', onlyStreamed],
      ['only in the list', this.#onlyListed],
      ['with another uid or version', this.#different],
    ] as const;
    const named = parts
      .filter(([, keys]) => keys.length > 0)
      .map(([what, keys]) => `${what}: ${keys.join(', ')}`);
    return `${this.#differences} of ${this.#objects.size} objects, among them ${named.join('; ')}`;
  }

  #note(keys: string[], key: string): void {
    this.#differences++;
    if (keys.length < NAMED_MAX) keys.push(key);
  }
}

function keyOf(bytes: Buffer, spans: KeySpans): string {
  const namespace = textAt(bytes, spans.namespaceStart, spans.namespaceEnd);
  const name = textAt(bytes, spans.nameStart, spans.nameEnd);
  return namespace === '' ? name : `${namespace}/${name}`;
}

function versionOf(bytes: Buffer, spans: KeySpans): string {
  const version = textAt(bytes, spans.resourceVersionStart, spans.resourceVersionEnd);
  return `${textAt(bytes, spans.uidStart, spans.uidEnd)} ${version}`;
}

function textAt(bytes: Buffer, start: number, end: number): string {
  return start < 0 ? '' : (decodeStringContent(bytes, start, end) ?? '');
}
