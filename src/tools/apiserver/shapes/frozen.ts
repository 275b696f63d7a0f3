/** The fields of built-in kinds that updates may not change, by the words of a real server's refusals. */

import { isDeepStrictEqual } from 'node:util';
import { forbidden, invalidValue } from '../store/causes.ts';
import type { FieldError } from '../store/field-error.ts';
import { isJsonObject, memberOf } from '../store/json.ts';
import type { Json } from '../store/json.ts';
import type { Frozen } from './shapes.ts';

type Path = readonly string[];

/** Returns the paths that the words name as fields that may change, and words between the names, which are no fields. */
function exceptions({ field, words }: Frozen): Path[] {
  const [, names = ''] = /(?:other than|except) (.*)$/.exec(words) ?? [];
  return Array.from(names.matchAll(/[a-zA-Z][\w.[\]*]*/g)).map(([name]) => {
    const path = name.replaceAll('[*]', '').split('.');
    return path[0] === field ? path : [field, ...path];
  });
}

/** Returns the value without the member at a path, which goes through all items of lists. */
function without(value: Json, path: Path): Json {
  if (Array.isArray(value)) return value.map((item) => without(item, path));
  const [name = '', ...rest] = path;
  const member = memberOf(value, name);
  if (!isJsonObject(value) || member === undefined) return value;
  const { [name]: _, ...others } = value;
  return rest.length === 0 ? others : { ...value, [name]: without(member, rest) };
}

/** Fields that a controller sets once. */
const SET_ONCE: readonly Path[] = [
  ['spec', 'volumeName'],
  ['spec', 'providerID'],
];

function valueAt(object: Json, path: Path): Json | undefined {
  return path.reduce<Json | undefined>((value, name) => memberOf(value, name), object);
}

/** Returns errors for changes of frozen fields. */
export function frozenErrors(object: Json, previous: Json, frozen: readonly Frozen[]): FieldError[] {
  return frozen.flatMap((rule) => {
    const { field, words } = rule;
    const path = field.split('.');
    const unset = SET_ONCE.filter((each) => valueAt(previous, each) === undefined);
    const [now, before] = [object, previous].map((each) =>
      valueAt([...exceptions(rule), ...unset].reduce<Json>(without, each), path),
    );
    if (isDeepStrictEqual(now, before)) return [];
    const prefix = 'Forbidden: ';
    return words.startsWith(prefix)
      ? [forbidden(field, words.slice(prefix.length))]
      : [invalidValue(field, valueAt(object, path), words)];
  });
}
