/**
 * Copies trees, and lists the differences between a tree and its copy. Handles JSON values, and the Dates and class
 * instances of models. `isDeepStrictEqual` compares all other objects (a Map, bytes).
 */
import { inspect, isDeepStrictEqual } from 'node:util';

export function snapshotOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(snapshotOf);
  if (!isPlain(value)) return withPrototypeOf(value, cloneOf(value));
  // Assignment would be wrong: JSON may contain a member `__proto__`.
  const copy = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, snapshotOf(child)]));
  return withPrototypeOf(value, copy);
}

/** Returns a clone, or the value itself when it cannot be cloned (a promise, a WeakMap) and so not compared. */
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
  compare('', before, after, max, found);
  return found;
}

function compare(path: string, before: unknown, after: unknown, max: number, found: string[]): void {
  if (Object.is(before, after) || found.length >= max) return;
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after)) {
    if (!isDeepStrictEqual(before, after)) found.push(`${path || '.'}: ${show(before)} -> ${show(after)}`);
    return;
  }
  const pathOf = Array.isArray(before) ? elementOf : memberOf;
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (found.length >= max) return;
    const at = pathOf(path, name);
    const [was, is]: unknown[] = [Reflect.get(before, name), Reflect.get(after, name)];
    if (!Object.hasOwn(after, name)) found.push(`${at}: ${show(was)} -> absent`);
    else if (!Object.hasOwn(before, name)) found.push(`${at}: absent -> ${show(is)}`);
    else compare(at, was, is, max, found);
  }
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

/** Whether all state of an object is in its properties, unlike a Date, Map, Set or buffer. */
function isPlain(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function show(value: unknown): string {
  return inspect(value, { depth: 2, breakLength: Infinity, maxStringLength: 80, maxArrayLength: 5 });
}

export function deepFreeze(root: unknown): void {
  if (typeof root !== 'object' || root === null) return;
  const pending: object[] = [root];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    Object.freeze(parent);
    for (const name in parent) {
      const child: unknown = parent[name as keyof typeof parent];
      if (typeof child === 'object' && child !== null) pending.push(child);
    }
  }
}
