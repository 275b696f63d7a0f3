/** Reads objects of any kind: a value by its dotted path; an absent value is undefined. */

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

export function numberAt(object: unknown, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

export function listAt(object: unknown, path: string): readonly unknown[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? value : [];
}

/** Returns the number of an object's members; 0 for anything else. */
export function sizeAt(object: unknown, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

/** Returns the status of a condition: `True`, `False`, `Unknown`, or '' when it is absent. */
export function conditionOf(object: unknown, type: string): string {
  const found = listAt(object, 'status.conditions').find((condition) => textAt(condition, 'type') === type);
  return textAt(found, 'status');
}
