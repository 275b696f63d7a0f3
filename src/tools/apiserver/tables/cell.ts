/** The functions from which the cells of a table are made. */

import { members, objects, text, texts } from '../store/causes.ts';
import { memberOf } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import { since } from './duration.ts';

/** A cell of an object. @param now milliseconds of the epoch, for ages */
export type Cell = (object: KubeObject, now: number) => Json;
/** The cells of a kind by the names of the columns. */
export type Cells = Readonly<Record<string, Cell>>;

export function valueAt(object: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>(memberOf, object);
}

/** Returns a cell with the text or number at a path. */
export function at(path: string, absent: Json = ''): Cell {
  return (object) => {
    const value = valueAt(object, path) ?? absent;
    return value === '' ? absent : value;
  };
}

export function numberAt(path: string): Cell {
  return at(path, 0);
}

/** Returns a cell with the count of the items or members at the paths. */
export function countAt(...paths: string[]): Cell {
  return (object) => paths.reduce((sum, path) => sum + Object.keys(valueAt(object, path) ?? {}).length, 0);
}

/** Returns a cell with the time since the timestamp at a path. */
export function ageAt(path: string, absent = '<unknown>'): Cell {
  return (object, now) => {
    const timestamp = text(valueAt(object, path));
    return timestamp === '' ? absent : since(timestamp, now);
  };
}

/** Returns a cell `1/2` of the numbers at two paths. */
export function ratio(part: string, whole: string): Cell {
  return (object) => `${shown(valueAt(object, part) ?? 0)}/${shown(valueAt(object, whole) ?? 0)}`;
}

/** Returns a cell with the texts at a path, of which at most `max` are written. */
export function joinedAt(path: string, absent = ''): Cell {
  return (object) => texts(valueAt(object, path)).join(',') || absent;
}

/** Returns the first items, and how many more there are. */
export function firstOf(items: readonly string[], max: number, separator = ','): string {
  const first = items.slice(0, max).join(separator);
  return items.length > max ? `${first} + ${items.length - max} more...` : first;
}

/** Returns a text or number as text. */
export function shown(value: Json | undefined): string {
  return typeof value === 'object' || value === undefined ? '' : `${value}`;
}

/** Returns the cells of the containers of a Pod or of a template. */
export function containersAt(path: string): Cells {
  const list = (name: string): Cell => {
    return (object) =>
      objects(valueAt(object, path))
        .map((container) => text(container[name]))
        .join(',');
  };
  return { Containers: list('name'), Images: list('image') };
}

/** Returns a map of labels as text. */
export function labelsText(labels: Json | undefined): string {
  const pairs = Object.entries(members(labels)).map(([name, value]) => `${name}=${text(value)}`);
  return pairs.toSorted().join(',') || '<none>';
}

export function labelsAt(path: string): Cell {
  return (object) => labelsText(valueAt(object, path));
}

function requirementText({ key, operator, values }: JsonObject): string {
  const among = `(${texts(values).toSorted().join(',')})`;
  switch (operator) {
    case 'In':
      return `${text(key)} in ${among}`;
    case 'NotIn':
      return `${text(key)} notin ${among}`;
    case 'DoesNotExist':
      return `!${text(key)}`;
    default:
      return text(key);
  }
}

/** Returns a cell with a label selector in the syntax of queries. */
export function selectorAt(path: string, absent = '<none>'): Cell {
  return (object) => {
    const selector = members(valueAt(object, path));
    const labels = Object.entries(members(selector['matchLabels'])).map(
      ([key, value]) => [key, `${key}=${text(value)}`] as const,
    );
    const requirements = objects(selector['matchExpressions']).map(
      (each) => [text(each['key']), requirementText(each)] as const,
    );
    const sorted = [...labels, ...requirements].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([, words]) => words).join(',') || absent;
  };
}

/** Returns the condition of a type. */
export function conditionOf(object: KubeObject, type: string): JsonObject | undefined {
  return objects(valueAt(object, 'status.conditions')).find((condition) => condition['type'] === type);
}

export function isCondition(object: KubeObject, type: string): boolean {
  return conditionOf(object, type)?.['status'] === 'True';
}
