/**
 * Dotted paths as a trie of keys in UTF-8, so that one walk over an object serves any number of paths.
 */
import { splitPath } from './path.ts';
import { bytesEqual, decodeStringToken } from './read.ts';
import { hasEscape } from './skip.ts';

export class PathNode {
  /** The key as the wire has it, closing quote included: when it matches, the key's end is known. */
  readonly quotedKey: Uint8Array;
  readonly children: PathNode[] = [];
  /** Numbers of the paths that end here. */
  readonly slots: number[] = [];
  /** How many paths end here or below. */
  slotsInSubtree = 0;
  /** The walk that met this key last: a second member with the same key does not count. */
  seenInWalk = 0;
  /** The children by the length of their quoted keys: few keys have as many bytes as another. */
  readonly #childrenByLength: PathNode[][] = [];

  constructor(key: string) {
    this.quotedKey = quoted(key);
  }

  /** The child whose key is the string token at [start, end), however it is written. */
  child(bytes: Uint8Array, start: number, end: number): PathNode | undefined {
    const length = end - start - 1;
    if (length >= 0 && length < this.#childrenByLength.length) {
      for (const child of this.#childrenByLength[length] ?? []) {
        if (bytesEqual(bytes, start + 1, child.quotedKey)) return child;
      }
    }
    if (this.children.length === 0 || !hasEscape(bytes, start, end)) return undefined;
    const key = decodeStringToken(bytes, start, end);
    return key === undefined ? undefined : this.#childNamed(key);
  }

  /** Adds a path and gives the node it ends at. */
  add(keys: readonly string[], slot: number): PathNode {
    this.slotsInSubtree++;
    const [first, ...rest] = keys;
    if (first === undefined) {
      this.slots.push(slot);
      return this;
    }
    return this.descend(first).add(rest, slot);
  }

  /** The child with this key, made if there is none. */
  descend(key: string): PathNode {
    let child = this.#childNamed(key);
    if (!child) {
      child = new PathNode(key);
      this.children.push(child);
      const { length } = child.quotedKey;
      while (this.#childrenByLength.length <= length) this.#childrenByLength.push([]);
      this.#childrenByLength[length]?.push(child);
    }
    return child;
  }

  #childNamed(key: string): PathNode | undefined {
    const wanted = quoted(key);
    return this.children.find((child) => wanted.equals(child.quotedKey));
  }
}

/** `key"`, with the escapes that every writer of JSON has to use. */
function quoted(key: string): Buffer {
  return Buffer.from(JSON.stringify(key).slice(1));
}

/** The root of a trie in which path number n has slot n. */
export function pathTrie(paths: readonly string[]): PathNode {
  const root = new PathNode('');
  for (const [slot, path] of paths.entries()) root.add(splitPath(path), slot);
  return root;
}
