/**
 * Copies trees, and lists the differences between a tree and the copy. Handles JSON values, and the Dates and class
 * instances of models. `isDeepStrictEqual` compares all other objects (a Map, bytes).
 */
import { inspect, isDeepStrictEqual } from 'node:util';

/** In the place of a member that is absent in either tree. */
const ABSENT = Symbol('absent');
const MEMBER = { writable: true, enumerable: true, configurable: true };

interface Pair {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Neither this nor `differences` is recursive: an object of a server may be deeper than the stack. */
export function snapshotOf(root: unknown): unknown {
  const pending: (readonly [from: object, to: object])[] = [];
  const copyOf = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (!isTree(value)) return withPrototypeOf(value, cloneOf(value));
    const copy = Array.isArray(value)
      ? []
      : (Object.create(Object.getPrototypeOf(value) as object) as object);
    pending.push([value, copy]);
    return copy;
  };
  const whole = copyOf(root);
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [from, to] = pair;
    for (const [name, value] of Object.entries(from) as [string, unknown][]) {
      // Assignment would be wrong: JSON may contain a member `__proto__`.
      Object.defineProperty(to, name, { ...MEMBER, value: copyOf(value) });
    }
  }
  return whole;
}

/** Returns a clone, or the value itself if it cannot be cloned (a promise, a WeakMap) and so is not compared. */
function cloneOf(value: object): object {
  try {
    return structuredClone(value);
  } catch {
    return value;
  }
}

function withPrototypeOf(original: object, copy: object): object {
  const prototype = Object.getPrototypeOf(original) as object | null;
  return Object.getPrototypeOf(copy) === prototype ? copy : Object.setPrototypeOf(copy, prototype);
}

/** Returns up to `max` differences as `path: before -> after`. */
export function differences(before: unknown, after: unknown, max: number): readonly string[] {
  const found: string[] = [];
  const pending: Pair[] = [{ path: '', before, after }];
  for (let pair = pending.pop(); pair !== undefined && found.length < max; pair = pending.pop()) {
    const children = compared(pair, found);
    while (children.length > 0) pending.push(children.pop() as Pair);
  }
  return found;
}

/** Adds the difference of two leaves to `found`. @returns the members of two trees */
function compared({ path, before, after }: Pair, found: string[]): Pair[] {
  if (Object.is(before, after)) return [];
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after)) {
    const isSame = before !== ABSENT && after !== ABSENT && isDeepStrictEqual(before, after);
    if (!isSame) found.push(`${path || '.'}: ${show(before)} -> ${show(after)}`);
    return [];
  }
  const pathOf = Array.isArray(before) ? elementOf : memberOf;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Array.from(names, (name) => ({
    path: pathOf(path, name),
    before: Object.hasOwn(before, name) ? (Reflect.get(before, name) as unknown) : ABSENT,
    after: Object.hasOwn(after, name) ? (Reflect.get(after, name) as unknown) : ABSENT,
  }));
}

function memberOf(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function elementOf(path: string, name: string): string {
  return `${path}[${name}]`;
}

/** Whether `compare` descends into the members of this value. */
function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null && (Array.isArray(value) || isPlain(value));
}

/** Whether the properties of an object hold all of its state, unlike a Date, Map, Set or buffer. */
function isPlain(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function show(value: unknown): string {
  if (value === ABSENT) return 'absent';
  return inspect(value, { depth: 2, breakLength: Infinity, maxStringLength: 80, maxArrayLength: 5 });
}
