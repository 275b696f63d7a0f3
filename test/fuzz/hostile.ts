/** Hostile values and texts, chosen by a seed. */
import type { Chance } from '../sim/chance.ts';
import { CANARY } from '../security/canary.ts';

export const TOKEN = `token-${CANARY}`;
const TOKEN_CHARACTER = '\ue000';

/** Thrown by members of hostile values: it may pass through a call that was given the value. */
export class HostileError extends Error {}

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.5,
  7,
  250,
  1e6,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  1e308,
  -1e308,
  NaN,
  Infinity,
  -Infinity,
];
const TEXTS = [
  '',
  ' ',
  'x',
  'a/b',
  '../x',
  '__proto__',
  'constructor',
  'é\u202e',
  '\ud800',
  '\0',
  '\n',
  '-1',
  '7',
  'true',
  'x'.repeat(5000),
];

function cycle(): object {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

function rejected(): Promise<never> {
  const promise = Promise.reject(new Error('rejected'));
  // Only what receives the promise has to look at it.
  promise.catch(() => {});
  return promise;
}

const OBJECTS: readonly (() => unknown)[] = [
  () => null,
  () => undefined,
  () => true,
  () => false,
  () => 7n,
  () => Symbol('x'),
  () => ({}),
  () => [],
  () => [null, 7],
  () => ({ metadata: null }),
  () => ({ metadata: { name: 7, namespace: {} } }),
  () => Object.create(null),
  () => new Map([['a', 1]]),
  () => new Date(NaN),
  () => Buffer.from('x'),
  () => new Error('an error'),
  () => new Proxy({}, { get: () => { throw new HostileError('a getter throws'); } }), // prettier-ignore
  () => ({ get toString() { throw new HostileError('toString throws'); } }), // prettier-ignore
  // oxlint-disable-next-line unicorn/no-thenable -- a foreign promise
  () => ({ then: (resolve: (value: unknown) => void) => resolve(7) }),
  () => cycle(),
  () => Promise.resolve(7),
  () => rejected(),
  () => () => 7,
  () => HostileError,
];

/** One value of each kind, made for each use. */
export const HOSTILE_VALUES: readonly (() => unknown)[] = [
  ...OBJECTS,
  ...['', 'x', '\0', 7, -1, 0.5, NaN, Infinity].map((value) => () => value),
];

/** Returns a value of any type. */
export function hostileValue(chance: Chance): unknown {
  if (chance.happens(0.35)) return chance.pick(NUMBERS);
  if (chance.happens(0.3)) return chance.pick(TEXTS);
  return chance.pick(OBJECTS)?.();
}

/** Returns what a callback may do: return anything, throw anything, or reject. */
export function hostileCallback(chance: Chance): (...args: unknown[]) => unknown {
  return (..._args) => {
    const value = hostileValue(chance);
    if (chance.happens(0.2)) throw value;
    return chance.happens(0.1) ? Promise.resolve(value) : value;
  };
}

const PIECES = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '\n',
  '\r\n',
  '\0',
  '0',
  '-',
  '1e999',
  'null',
  'true',
  '"a":',
  ' ',
  '\ufffd',
  '#',
  '&a ',
  '*a ',
  '- ',
  '|',
  '<<: *a',
  '%',
];

/** Returns the text after a few changes: pieces inserted, removed, doubled, moved or replaced, or the end cut off. */
export function mutated(chance: Chance, text: string): string {
  // The token as one character: half a token is no secret, and no library would hide it.
  let result = text.replaceAll(TOKEN, TOKEN_CHARACTER);
  for (let count = chance.integer(1, 4); count > 0; count--) {
    const at = chance.integer(0, result.length);
    const end = Math.min(result.length, at + Math.ceil(chance.magnitude(1, 40)));
    const [head, middle, tail] = [result.slice(0, at), result.slice(at, end), result.slice(end)];
    switch (chance.integer(0, 5)) {
      case 0:
        result = head + (chance.pick(PIECES) ?? '') + middle + tail;
        break;
      case 1:
        result = head + tail;
        break;
      case 2:
        result = head + middle + middle + tail;
        break;
      case 3:
        result = head + tail + middle;
        break;
      case 4:
        result = head + (chance.pick(PIECES) ?? '') + tail;
        break;
      default:
        result = chance.happens(0.3) ? head : swappedLines(chance, result);
    }
  }
  return result.replaceAll(TOKEN_CHARACTER, TOKEN);
}

function swappedLines(chance: Chance, text: string): string {
  const lines = text.split('\n');
  const [from, to] = [chance.integer(0, lines.length - 1), chance.integer(0, lines.length - 1)];
  const moved = lines.splice(from, 1);
  lines.splice(to, 0, ...moved);
  return lines.join('\n');
}

const ESCAPED = JSON.stringify(TEXTS).slice(1, -1);

/** Keys of members, escaped and double; a key may be chosen twice. */
const MEMBERS = ['"spec"', '"status"', '"\\u0073pec"', '"spec" ', '"status"', '"__proto__"'];

/** Returns JSON of one object: a Secret's, usual or hostile in one or more members. */
export function hostileObject(chance: Chance, name: string): string {
  const members = [
    `"name":${odd(chance, JSON.stringify(name))}`,
    `"namespace":${odd(chance, '"d"')}`,
    `"uid":${odd(chance, `"u-${name}"`)}`,
    `"resourceVersion":${odd(chance, '"7"')}`,
    `"labels":${odd(chance, '{"a":"b"}')}`,
    `"ownerReferences":${odd(chance, '[{"uid":"o","controller":true}]')}`,
    `"generation":${odd(chance, '3')}`,
    `"deletionTimestamp":${odd(chance, '"2026-01-01T00:00:00Z"')}`,
  ].filter(() => chance.happens(0.9));
  if (chance.happens(0.1)) members.push(chance.pick(members) ?? '"x":1');
  if (chance.happens(0.2)) members.reverse();
  const parts = [
    `"kind":${odd(chance, '"ConfigMap"')},"apiVersion":"v1","metadata":${odd(chance, `{${members.join()}}`)}`,
    `"data":{"password":"${CANARY}"}`,
    ...MEMBERS.filter(() => chance.happens(0.2)).map((key) => `${key}:${odd(chance, '{"a":"{\\"b\\":1}"}')}`),
  ];
  if (chance.happens(0.1)) parts.reverse();
  const text = `{${parts.join()}}`;
  return chance.happens(0.15) ? mutated(chance, text) : text;
}

/** Returns the usual JSON, or seldom another value. */
function odd(chance: Chance, usual: string): string {
  if (chance.happens(0.96)) return usual;
  const depth = chance.integer(1, 12_000);
  return chance.pick([
    'null',
    '7',
    '-1.5e300',
    'true',
    '{}',
    '[]',
    '"\\u0041"',
    '"\\ud800"',
    `[${ESCAPED}]`,
    `${'['.repeat(depth)}${']'.repeat(depth)}`,
    `"${'x'.repeat(depth)}"`,
  ]);
}
