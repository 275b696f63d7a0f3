/** Reads objects of any kind: a value by a dotted path; an absent value is undefined. */

export function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

export function textAt(object: unknown, path: string, absent: string = ''): string {
  const value = valueAt(object, path);
  return typeof value === 'string' && value !== '' ? value : absent;
}

export function listAt(object: unknown, path: string): readonly unknown[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? value : [];
}
