/** Objects as rows of a Table, which kubectl prints: the columns of the kind, the cells of each object, and the object itself. */

import { builtInKinds } from '../shapes/shapes.ts';
import { text } from '../store/causes.ts';
import { isNumber, textOf, writeJson } from '../store/json.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import type { Column } from '../store/column.ts';
import type { ServedResource } from '../store/resources.ts';
import { qualifiedName } from '../store/status.ts';
import { withoutManagedFields } from '../store/stored-object.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { Representation } from '../wire/http-io.ts';
import { ageAt } from './cell.ts';
import type { Cells } from './cell.ts';
import { since } from './duration.ts';
import { firstAt } from './json-path.ts';
import { CELLS } from './kind-cells.ts';
import { rowConditions } from './pod-cells.ts';

/** The beginning of a Table, without columns and rows. */
export const TABLE: JsonObject = { kind: 'Table', apiVersion: 'meta.k8s.io/v1' };

const CREATED = 'metadata.creationTimestamp';
const NAME: Column = { name: 'Name', type: 'string', format: 'name' };
const DEFAULT_COLUMNS: readonly Column[] = [NAME, { name: 'Age', type: 'date' }];

/** The cells of columns that have one meaning in every kind. */
const COMMON: Cells = {
  Name: ({ metadata }) => metadata.name ?? '',
  Age: ageAt(CREATED),
  'Created At': ({ metadata }) => metadata.creationTimestamp ?? null,
};

function cellsOf(definition: ServedResource): Cells {
  return { ...COMMON, ...(definition.custom === true ? {} : CELLS[qualifiedName(definition)]) };
}

/** Returns the columns that have cells. */
function columnsOf(definition: ServedResource): readonly Column[] {
  const { columns = DEFAULT_COLUMNS } = definition;
  const cells = cellsOf(definition);
  return columns.filter(({ name, jsonPath }) => jsonPath !== undefined || cells[name] !== undefined);
}

/** Returns the columns as the server describes them. */
export function columnDefinitions(definition: ServedResource): Json[] {
  const columns = columnsOf(definition);
  const common = new Map<string, string>(Object.entries(builtInKinds().descriptions));
  return columns.map(({ name, type, format = '', description, priority = 0 }) => {
    return { name, type, format, description: description ?? common.get(name) ?? '', priority };
  });
}

/** Returns a value of a custom object in the type of the column; null for a value of another type. */
function typedCell(type: string, value: Json | undefined, now: number): Json {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string':
      return textOf(value);
    case 'integer':
      return isNumber(value) ? (typeof value === 'number' ? Math.trunc(value) : value) : null;
    case 'number':
      return isNumber(value) ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? since(value, now) : null;
    default:
      return null;
  }
}

function rowCells(definition: ServedResource, object: KubeObject, now: number): Json[] {
  const cells = cellsOf(definition);
  return columnsOf(definition).map(({ name, type, jsonPath }) =>
    jsonPath === undefined
      ? (cells[name]?.(object, now) ?? null)
      : typedCell(type, firstAt(jsonPath, object), now),
  );
}

/** Returns the row of an object, which has the given form in the row. */
export function tableRow(
  definition: ServedResource,
  object: StoredObject,
  { includeObject, dropsManagedFields }: Representation,
): Buffer {
  const parsed = object.parse();
  const head = Buffer.from(`{"cells":${writeJson(rowCells(definition, parsed, Date.now()))},`);
  const conditions = qualifiedName(definition) === 'pods' ? rowConditions(parsed) : undefined;
  const state = Buffer.from(
    `${conditions === undefined ? '' : `"conditions":${writeJson(conditions)},`}"object":`,
  );
  if (includeObject === 'None') return Buffer.concat([head, state, Buffer.from('null}')]);
  const pieces = includeObject === 'Object' ? [object.toBuffer()] : object.metadataOnly();
  const shown = dropsManagedFields ? [withoutManagedFields(pieces)] : pieces;
  return Buffer.concat([head, state, ...shown, Buffer.from('}')]);
}

/** Returns the Table of a single object. @param hasColumns false for an event after the first of a watch */
export function tableOf(
  definition: ServedResource,
  object: StoredObject,
  representation: Representation,
  hasColumns = true,
): Buffer {
  const { resourceVersion } = object.parse().metadata;
  const columns = hasColumns ? columnDefinitions(definition) : null;
  const metadata = text(resourceVersion) === '' ? {} : { resourceVersion };
  const head = writeJson({ ...TABLE, metadata, columnDefinitions: columns });
  const row = tableRow(definition, object, representation);
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"rows":[`), row, Buffer.from(']}')]);
}
