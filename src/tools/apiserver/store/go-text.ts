/** Values of JSON as Go prints them, for messages of a server that show a value. */

import { isJsonObject, writeJson } from './json.ts';
import type { Json } from './json.ts';

/** Writes a value as `%v` does. */
export function goText(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isJsonObject(value)) return value === null || value === undefined ? '<nil>' : String(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `map[${members.map(([name, member]) => `${name}:${goText(member)}`).join(' ')}]`;
}

/** Writes the type of a value as `%T` does. */
export function goTypeOf(value: Json | undefined): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : '<nil>';
}

/** Writes a value as `%#v` does. */
export function goSyntax(value: Json): string {
  if (Array.isArray(value)) return `${goTypeOf(value)}{${value.map(goSyntax).join(', ')}}`;
  if (!isJsonObject(value)) return value === null ? 'interface {}(nil)' : writeJson(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `${goTypeOf(value)}{${members.map(([name, member]) => `${JSON.stringify(name)}:${goSyntax(member ?? null)}`).join(', ')}}`;
}
