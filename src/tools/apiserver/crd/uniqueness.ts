/** Lists whose type makes their items unique: sets, and lists with keys. */

import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf, writeJson } from '../store/json.ts';
import type { Json } from '../store/json.ts';
import { UNTYPED, elementOfItem } from '../fields/schema-types.ts';
import type { FieldType, ItemRule } from '../fields/schema-types.ts';

/** Returns an error for the first repetition of each item. */
export function duplicateErrors(value: Json | undefined, type: FieldType, path = ''): FieldError[] {
  if (Array.isArray(value)) {
    const seen = new Map<string, number>();
    return value.flatMap((item, index) => {
      const place = `${path}[${index}]`;
      const inside = duplicateErrors(item, type.item, place);
      const element = type.items && elementOfItem(type.items, item);
      const times = seen.get(element ?? '') ?? 0;
      if (element !== undefined) seen.set(element, times + 1);
      if (type.items === undefined || element === undefined || times !== 1) return inside;
      const body = `Duplicate value: ${writeJson(identityOf(type.items, item))}`;
      return [{ type: 'FieldValueDuplicate', field: place, body } as const, ...inside];
    });
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const inside =
      type.names(name) || path === '' ? `${path === '' ? '' : `${path}.`}${name}` : `${path}[${name}]`;
    return duplicateErrors(member, type.member(name) ?? UNTYPED, inside);
  });
}

function identityOf(rule: ItemRule, item: Json): Json {
  if (rule.form === 'set') return item;
  const keys = rule.keys.map((key) => [key, memberOf(item, key)] as const);
  return Object.fromEntries(keys.filter(([, value]) => value !== undefined));
}
