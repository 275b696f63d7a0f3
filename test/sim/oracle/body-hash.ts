/**
 * Compares JSON texts exactly: members in any order and strings in any spelling, but numbers as written.
 * Every member counts, also one with the name `__proto__` and one that occurs twice. The fields that a list
 * omits (kind and apiVersion of its items) do not count.
 */
import { hash } from 'node:crypto';

const HEX_DIGITS = 16;
const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const LITERAL = /[^\s,\]}]+/y;
const LEFT_OUT = new Set(['"kind"', '"apiVersion"']);

/** The same bodies occur again and again: from the server, in caches, in every handler. */
const known = new Map<string, string>();
const KNOWN_MAX = 2000;

/** Returns 64 bits in hexadecimal. Text that is not JSON is hashed as it is. */
export function bodyHash(json: string): string {
  const before = known.get(json);
  if (before !== undefined) return before;
  const digest = hash('sha1', canonical(json)).slice(0, HEX_DIGITS);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(json, digest);
  return digest;
}

function canonical(json: string): string {
  try {
    return new Canonical(json).document();
  } catch {
    return json;
  }
}

class Canonical {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): string {
    const value = this.#value(0);
    if (this.#next() !== '') throw new SyntaxError('more than one value');
    return value;
  }

  #value(depth: number): string {
    const first = this.#next();
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    if (first === '"') return this.#string();
    return this.#take(LITERAL);
  }

  #object(depth: number): string {
    const members: string[] = [];
    this.#at++;
    while (this.#next() !== '}') {
      const key = this.#string();
      this.#expect(':');
      const value = this.#value(depth + 1);
      if (depth > 0 || !LEFT_OUT.has(key)) members.push(`${key}:${value}`);
      if (this.#next() !== '}') this.#expect(',');
    }
    this.#at++;
    return `{${members.sort().join(',')}}`;
  }

  #array(depth: number): string {
    const items: string[] = [];
    this.#at++;
    while (this.#next() !== ']') {
      items.push(this.#value(depth + 1));
      if (this.#next() !== ']') this.#expect(',');
    }
    this.#at++;
    return `[${items.join(',')}]`;
  }

  /** Returns one spelling of each string: that of JSON.stringify. */
  #string(): string {
    this.#next();
    const token = this.#take(STRING);
    return token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
  }

  #expect(character: string): void {
    if (this.#next() !== character) throw new SyntaxError(`no ${character} at ${this.#at}`);
    this.#at++;
  }

  #next(): string {
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
    return this.#text.charAt(this.#at);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new SyntaxError(`no token at ${this.#at}`);
    this.#at = pattern.lastIndex;
    return found;
  }
}
