/**
 * The managers of the fields of an object: `metadata.managedFields` as sets, and the effect of a write. An update takes
 * the fields that it changes; an apply owns exactly the fields of the configuration. Pure functions.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Json, ManagedFieldsEntry } from '../store/json.ts';
import { FieldSet, NO_FIELDS } from './field-set.ts';
import { compare, fieldsOf, merge, withNamedParents, without } from './merge.ts';
import type { FieldType } from './schema-types.ts';

/** The name of a writer, and the kind of write. */
export interface ManagerIdentity {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** '' for the object itself. */
  readonly subresource: string;
}

interface Manager extends ManagerIdentity {
  /** RFC 3339, in seconds; undefined if no write set it. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Managers by identity. */
export type Managers = ReadonlyMap<string, Manager>;

export const NO_MANAGERS: Managers = new Map();

/** Fields that belong to the server, so no manager owns them. */
const SERVER_FIELDS = FieldSet.of([
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
  ...['deletionTimestamp', 'deletionGracePeriodSeconds'].map((name) => ['f:metadata', `f:${name}`]),
]);

/** An applier keeps the same identity when it applies another version. */
function keyOf({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Reads `managedFields`; undefined if an entry is invalid. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[]): Managers | undefined {
  const managers = new Map<string, Manager>();
  for (const {
    manager = '',
    operation,
    apiVersion = '',
    subresource = '',
    time,
    fieldsType,
    fieldsV1,
  } of entries) {
    const fields = fieldsType === 'FieldsV1' ? FieldSet.parse(fieldsV1 ?? {}) : undefined;
    if (fields === undefined || apiVersion === '' || (operation !== 'Apply' && operation !== 'Update'))
      return undefined;
    const entry = { manager, operation, apiVersion, subresource, time, fields } as const;
    managers.set(keyOf(entry), entry);
  }
  return managers;
}

/** Writes `managedFields`: appliers first, then by time, manager, version and subresource. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] {
  const sortKey = ({ operation, time = '', manager, apiVersion, subresource }: Manager): string =>
    [operation, time, manager, apiVersion, subresource].join('\0');
  return [...managers.values()]
    .toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
    .map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fields.toFieldsV1(),
      ...(subresource === '' ? {} : { subresource }),
    }));
}

/** A write of an object. */
export interface Write {
  readonly type: FieldType;
  /** Returns the fields that the write can set: the status only through its subresource. */
  readonly owned: (fields: FieldSet) => FieldSet;
  readonly identity: ManagerIdentity;
  /** Time of the write, RFC 3339 in seconds; undefined leaves the entry without a time. */
  readonly time: string | undefined;
}

/** Returns the managers after an update: the writer owns what the update added or modified. */
export function afterUpdate(
  managers: Managers,
  before: Json | undefined,
  after: Json,
  write: Write,
): Managers {
  const { added, modified, removed } = compare(before, after, write.type);
  const changed = write.owned(added.union(modified).difference(SERVER_FIELDS));
  const rest = new Map<string, Manager>();
  for (const [key, manager] of managers) {
    const fields = manager.fields.difference(changed).difference(removed);
    if (!fields.isEmpty) rest.set(key, { ...manager, fields });
  }
  if (changed.isEmpty) return rest;
  const key = keyOf(write.identity);
  // The writer keeps the fields that it owned before, unless the update removed them.
  const previous = managers.get(key)?.fields.difference(removed) ?? NO_FIELDS;
  return capped(rest.set(key, { ...write.identity, time: write.time, fields: previous.union(changed) }));
}

/** Beyond this number of updating managers, the oldest are merged. */
const UPDATERS_MAX = 10;
const OLD_UPDATES = 'ancient-changes';

/** Merges the oldest updating managers of each version, as far as there are more than allowed. */
function capped(managers: Map<string, Manager>): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  const ageOf = ([key, { time = '' }]: readonly [string, Manager]): string => `${time} ${key}`;
  const oldest = new Map<string, string>();
  let excess = updaters.length - UPDATERS_MAX;
  for (const [key, manager] of updaters.toSorted((one, other) => (ageOf(one) < ageOf(other) ? -1 : 1))) {
    if (excess <= 0) break;
    const { apiVersion, time } = manager;
    const first = oldest.get(apiVersion);
    if (first === undefined) {
      oldest.set(apiVersion, key);
      continue;
    }
    const bucket = { manager: OLD_UPDATES, operation: 'Update', apiVersion, subresource: '' } as const;
    const before = managers.get(keyOf(bucket)) ?? managers.get(first);
    managers.delete(first);
    managers.delete(key);
    const fields = manager.fields.union(before?.fields ?? NO_FIELDS);
    managers.set(keyOf(bucket), { ...bucket, time, fields });
    excess--;
  }
  return managers;
}

/** A field that the configuration would take from another manager. */
export interface FieldConflict {
  readonly manager: ManagerIdentity;
  readonly fields: readonly string[];
}

export interface Applied {
  readonly object: Json;
  readonly managers: Managers;
  /** Conflicts by manager; if there are any and the apply is not forced, the write is refused. */
  readonly conflicts: readonly FieldConflict[];
}

export interface Apply extends Write {
  readonly forced: boolean;
}

/** Applies a configuration to the live object, `{}` for an object that does not exist. */
export function applyConfiguration(managers: Managers, live: Json, config: Json, apply: Apply): Applied {
  const { type, identity, owned } = apply;
  const key = keyOf(identity);
  const last = managers.get(key);
  const fields = owned(fieldsOf(config, type));
  const all = new Map(managers).set(key, { ...identity, time: last?.time, fields });
  const merged = merge(live, config, type) ?? {};
  const object = last === undefined ? merged : pruned(merged, last.fields, all, type);
  const { added, modified, removed } = compare(live, object, type);
  const changed = owned(added.union(modified));
  const conflicts: FieldConflict[] = [];
  const after = new Map<string, Manager>();
  for (const [each, manager] of all) {
    if (each === key) continue;
    const taken = manager.fields.intersection(changed);
    if (!taken.isEmpty) conflicts.push({ manager, fields: taken.texts() });
    const rest = manager.fields.difference(taken).difference(owned(removed));
    if (!rest.isEmpty) after.set(each, { ...manager, fields: rest });
  }
  const mine = fields.difference(SERVER_FIELDS);
  const time = isDeepStrictEqual(live, object) ? last?.time : apply.time;
  if (!mine.isEmpty) after.set(key, { ...identity, time, fields: mine });
  return { object, managers: after, conflicts: apply.forced ? [] : conflicts };
}

/** Removes the fields that the manager applied last time but not now, unless another manager owns them. */
function pruned(merged: Json, last: FieldSet, managers: Managers, type: FieldType): Json {
  const named = (fields: FieldSet): FieldSet => withNamedParents(fields, type);
  const present = named(fieldsOf(merged, type));
  const applied = named(last);
  const owned = [...managers.values()].reduce((all, { fields }) => all.union(fields), NO_FIELDS);
  const rest = without(merged, applied, type) ?? {};
  const kept = named(fieldsOf(rest, type)).union(named(owned));
  const unowned = without(merged, present.difference(kept), type) ?? {};
  const gone = present.difference(named(fieldsOf(unowned, type))).intersection(applied);
  return without(merged, gone, type) ?? {};
}

/** Describes a manager as apimachinery does in the message of a conflict. */
export function describeManager({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
