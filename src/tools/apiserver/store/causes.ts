/** The causes of a refused object, in the words of a real server, and members of objects as Go reads them. */

import type { FieldError } from './field-error.ts';
import { isJsonObject, writeJson } from './json.ts';
import type { Json, JsonObject } from './json.ts';

/** Returns JSON as Go writes it, which escapes the characters of HTML. */
export function goJson(value: Json | undefined): string {
  return writeJson(value ?? null).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function required(field: string, why = ''): FieldError {
  return { type: 'FieldValueRequired', field, body: `Required value${why === '' ? '' : `: ${why}`}` };
}

export function forbidden(field: string, why: string): FieldError {
  return { type: 'FieldValueForbidden', field, body: `Forbidden: ${why}` };
}

export function invalidValue(field: string, value: Json | undefined, why: string): FieldError {
  const shown = typeof value === 'string' ? JSON.stringify(value) : goJson(value);
  return { type: 'FieldValueInvalid', field, body: `Invalid value: ${shown}: ${why}` };
}

export function unsupported(field: string, value: Json, supported: readonly string[]): FieldError {
  const quoted = supported.map((name) => JSON.stringify(name)).join(', ');
  const body = `Unsupported value: ${writeJson(value)}: supported values: ${quoted}`;
  return { type: 'FieldValueNotSupported', field, body };
}

export function duplicate(field: string, value: Json | undefined): FieldError {
  return { type: 'FieldValueDuplicate', field, body: `Duplicate value: ${goJson(value)}` };
}

export function notFound(field: string, name: string): FieldError {
  return { type: 'FieldValueNotFound', field, body: `Not found: ${JSON.stringify(name)}` };
}

/** Returns text; '' for an absent member, as in Go. */
export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function members(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

export function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(text) : [];
}
