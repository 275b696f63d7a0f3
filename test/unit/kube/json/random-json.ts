/**
 * Random JSON values, written in random ways: spaces, escapes, key orders, but no duplicate keys. Tests compare
 * scanners with JSON.parse on them.
 */
import type { Seeded } from './seeded.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const TRICKY_STRINGS = [
  '',
  '"',
  '\\',
  '\\"',
  '{"name":"fake"}',
  '],}',
  '\u0000\u001f',
  'äöü',
  '€',
  '😀',
  '\u2028',
  '"metadata":{"name":"no"}',
  'a'.repeat(70),
  `${'é'.repeat(33)}\\`,
];
const KEYS = [
  'name',
  'namespace',
  'uid',
  'items',
  'metadata',
  'spec',
  'a.b/c',
  'f:name',
  'k:{"uid":"x"}',
  'ü',
  '',
];

export function randomString(random: Seeded): string {
  return random.chance(0.5) ? random.pick(TRICKY_STRINGS) : `v${random.below(1e6)}`;
}

export function randomJson(random: Seeded, depth = 4): Json {
  const kind = random.below(depth > 0 ? 9 : 6);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return random.pick([0, -0.5, 1e21, 123456789, 2 ** 53, -1e-7]);
  if (kind <= 5) return randomString(random);
  const size = random.below(5);
  if (kind === 6) return Array.from({ length: size }, () => randomJson(random, depth - 1));
  const value: { [key: string]: Json } = {};
  for (let index = 0; index < size; index++) value[random.pick(KEYS)] = randomJson(random, depth - 1);
  return value;
}

export interface WriteStyle {
  /** Probability of whitespace between two tokens. */
  readonly spaces: number;
  /** Probability of an escape for a character that needs none. */
  readonly escapes: number;
}

export const COMPACT: WriteStyle = { spaces: 0, escapes: 0 };
export const ODD: WriteStyle = { spaces: 0.2, escapes: 0.05 };

/** Writes a value; the members of objects keep their order. */
export function writeJson(value: Json, random: Seeded, style: WriteStyle): string {
  const space = (): string => (random.chance(style.spaces) ? random.pick([' ', '\n', '\t ', '\r\n']) : '');
  const joined = (open: string, parts: string[], close: string): string =>
    `${open}${space()}${parts.join(`${space()},${space()}`)}${space()}${close}`;
  if (typeof value === 'string') return writeString(value, random, style.escapes);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value))
    return joined(
      '[',
      value.map((item) => writeJson(item, random, style)),
      ']',
    );
  const members = Object.entries(value).map(
    ([key, item]) =>
      `${writeString(key, random, style.escapes)}${space()}:${space()}${writeJson(item, random, style)}`,
  );
  return joined('{', members, '}');
}

function writeString(text: string, random: Seeded, escapes: number): string {
  let written = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0xffff && random.chance(escapes)) written += `\\u${code.toString(16).padStart(4, '0')}`;
    else if (character === '/' && random.chance(escapes)) written += '\\/';
    else written += JSON.stringify(character).slice(1, -1);
  }
  return `"${written}"`;
}
