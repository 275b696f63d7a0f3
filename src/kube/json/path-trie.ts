/** Dotted paths as a trie of keys in UTF-8, so that one walk over an object serves any number of paths. */
import { splitPath } from './path.ts';
import { bytesEqual, decodeStringToken } from './read.ts';
import { hasEscape } from './skip.ts';

export class PathNode {
  /** The key as it is in JSON, closing quote included: a match also finds the key's end. */
  readonly quotedKey: Uint8Array;
  readonly children: PathNode[] = [];
  /** Numbers of the paths that end here. */
  readonly slots: number[] = [];
  /** Number of paths that end here or below. */
  slotsInSubtree = 0;
  /** The last walk that met this key: a second member with the same key is ignored. */
  seenInWalk = 0;
  /** The children by the length of their quoted keys: few keys have the same length. */
  readonly #childrenByLength: PathNode[][] = [];

  constructor(key: string) {
    this.quotedKey = quoted(key);
  }

  /** Returns the child whose key is the string token at [start, end), with or without escapes. */
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

  /** Adds a path and returns its last node. */
  add(keys: readonly string[], slot: number): PathNode {
    this.slotsInSubtree++;
    const [first, ...rest] = keys;
    if (first === undefined) {
      this.slots.push(slot);
      return this;
    }
    return this.descend(first).add(rest, slot);
  }

  /** Returns the child with this key; creates it if there is none. */
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

/** Returns `key"`, with the escapes that JSON requires. */
function quoted(key: string): Buffer {
  return Buffer.from(JSON.stringify(key).slice(1));
}

/** Returns the root of a trie in which path number n has slot n. */
export function pathTrie(paths: readonly string[]): PathNode {
  const root = new PathNode('');
  for (const [slot, path] of paths.entries()) root.add(splitPath(path), slot);
  return root;
}
