/**
 * Ownership of fields in the writes of objects: creates, updates and patches own the fields that they change,
 * server-side apply owns the fields of the configuration. An object without managers stays without them until the first
 * apply.
 */

import { isDeepStrictEqual } from 'node:util';
import {
  NO_MANAGERS,
  afterUpdate,
  applyConfiguration,
  decodeManagers,
  describeManager,
  encodeManagers,
} from '../fields/managers.ts';
import type { FieldConflict, ManagerIdentity, Managers, Write } from '../fields/managers.ts';
import { typeErrors } from '../fields/merge.ts';
import { schemaType } from '../fields/schema-types.ts';
import type { FieldType } from '../fields/schema-types.ts';
import type { FieldSet } from '../fields/field-set.ts';
import type { Json, KubeObject, ManagedFieldsEntry } from '../store/json.ts';
import { shapeOf } from '../shapes/shapes.ts';
import { withZeros } from '../shapes/zero-values.ts';
import { apiVersionOf } from '../store/resources.ts';
import type { ServedResource } from '../store/resources.ts';
import { applyConflict, badRequest, bareFailure } from '../store/status.ts';
import { lastAppliedFields, withLastApplied } from './last-applied.ts';
import { timestamp } from './object-preparation.ts';

/** The manager of a write, and the subresource that the write goes through ('' for the object itself). */
export interface FieldWriter {
  readonly manager: string;
  readonly subresource: string;
}

/** The manager of everything that an object contained before the first apply. */
const BEFORE_FIRST_APPLY = 'before-first-apply';
const zeros = new WeakMap<ServedResource, Json>();
const WITHOUT_SCHEMA = schemaType({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });

/** Returns the type by which managers own the fields of a resource. */
export function fieldTypeOf({ schema }: ServedResource): FieldType {
  return schema?.fieldType ?? WITHOUT_SCHEMA;
}

/** Returns the updated object with the managers. `given` are the managers in the body of the request. */
export function trackUpdate(
  definition: ServedResource,
  current: KubeObject | undefined,
  updated: KubeObject,
  given: readonly ManagedFieldsEntry[] | undefined,
  writer: FieldWriter,
): KubeObject {
  const managers = managersOf(current, given, writer);
  const isTracked = managers.size > 0 || current === undefined;
  const before = current === undefined ? zeroOf(definition) : withoutManagers(current);
  const after = withoutManagers(updated);
  if (!isTracked) return after;
  const write = writeOf(definition, 'Update', writer);
  return withManagers(after, afterUpdate(managers, before, after, write));
}

/** Returns the object of a kind before any field is set, as Go writes the struct. A creator does not own the lists that Go writes as null. */
function zeroOf(definition: ServedResource): Json {
  const { group, version, kind, custom } = definition;
  const shape = custom === true ? undefined : shapeOf(group, version, kind);
  const zero = zeros.get(definition) ?? (shape === undefined ? {} : withZeros({}, shape));
  zeros.set(definition, zero);
  return zero;
}

function managersOf(
  current: KubeObject | undefined,
  given: readonly ManagedFieldsEntry[] | undefined,
  { subresource }: FieldWriter,
): Managers {
  const live = decodeManagers(current?.metadata.managedFields ?? []) ?? NO_MANAGERS;
  if (given === undefined || subresource !== '') return live;
  const [first] = given;
  const isReset = first === undefined || (given.length === 1 && Object.keys(first).length === 0);
  if (isReset) return NO_MANAGERS;
  return decodeManagers(given) ?? live;
}

function writeOf(
  definition: ServedResource,
  operation: ManagerIdentity['operation'],
  writer: FieldWriter,
): Write {
  const { manager, subresource } = writer;
  return {
    type: fieldTypeOf(definition),
    identity: { manager, operation, apiVersion: apiVersionOf(definition), subresource },
    time: subresource === 'scale' ? undefined : timestamp(),
    owned: ownedThrough(definition, writer),
  };
}

/** Returns the live object with the configuration applied. @throws StatusError 409 for conflicts, 500 for other types */
export function applied(
  definition: ServedResource,
  live: KubeObject | undefined,
  config: KubeObject,
  writer: FieldWriter,
  isForced: boolean,
): KubeObject {
  const write = writeOf(definition, 'Apply', writer);
  checkTypes(definition, config, write.type);
  const before = live === undefined ? {} : withoutManagers(live);
  let managers = decodeManagers(live?.metadata.managedFields ?? []) ?? NO_MANAGERS;
  if (managers.size === 0 && live !== undefined) {
    const first = { ...writer, manager: BEFORE_FIRST_APPLY };
    managers = afterUpdate(managers, {}, before, writeOf(definition, 'Update', first));
  }
  const result = applyConfiguration(managers, before, config, { ...write, forced: isForced });
  const conflicts = conflictsBeyond(result.conflicts, live, write.type, writer.manager);
  if (conflicts.length > 0) throw conflictOf(conflicts);
  const object = withLastApplied(result.object as KubeObject, config, writer.manager);
  return withManagers(object, result.managers);
}

/** Returns the conflicts about fields that the manager did not apply before on the client's side. */
function conflictsBeyond(
  conflicts: readonly FieldConflict[],
  live: KubeObject | undefined,
  type: FieldType,
  manager: string,
): FieldConflict[] {
  if (live === undefined || conflicts.length === 0) return [...conflicts];
  const allowed = new Set(lastAppliedFields(live, type, manager).texts());
  const left = conflicts.map((each) => ({
    ...each,
    fields: each.fields.filter((field) => !allowed.has(field)),
  }));
  return left.filter(({ fields }) => fields.length > 0);
}

/**
 * Returns the fields that a write through the subresource can set: the status only through its subresource, together
 * with the metadata of built-in kinds.
 */
function ownedThrough(
  { status, custom }: ServedResource,
  { subresource }: FieldWriter,
): (fields: FieldSet) => FieldSet {
  if (subresource === 'status') {
    return (fields) => (custom === true ? fields.only('f:status') : fields.without('f:spec'));
  }
  return (fields) => (status === true ? fields.without('f:status') : fields);
}

function checkTypes(definition: ServedResource, config: KubeObject, type: FieldType): void {
  if (config.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  const errors = typeErrors(config, type);
  if (errors.length === 0) return;
  const { name = '', namespace = '' } = config.metadata;
  const what = `${namespace}/${name}; ${groupVersionKind(apiVersionOf(definition), definition.kind)}`;
  const why =
    errors.length === 1 ? errors.join('') : `errors:\n${errors.map((each) => `  ${each}`).join('\n')}`;
  throw bareFailure(`failed to create typed patch object (${what}): ${why}`);
}

/** Writes a kind as Go prints it: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`. */
export function groupVersionKind(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
}

function conflictOf(conflicts: readonly FieldConflict[]): Error {
  const groups = conflicts
    .map(({ manager, fields }) => ({ who: describeManager(manager), fields }))
    .toSorted((one, other) => (one.who < other.who ? -1 : 1));
  const causes = groups.flatMap(({ who, fields }) =>
    fields.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  if (causes.length === 1) {
    const [{ message, field } = { message: '', field: '' }] = causes;
    return applyConflict(`Apply failed with 1 conflict: ${message}: ${field}`, causes);
  }
  const lines = groups.flatMap(({ who, fields }) => [
    `conflicts with ${who}:`,
    ...fields.map((field) => `- ${field}`),
  ]);
  return applyConflict(`Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`, causes);
}

function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function withManagers(object: KubeObject, managers: Managers): KubeObject {
  const { metadata } = withoutManagers(object);
  return managers.size === 0
    ? { ...object, metadata }
    : { ...object, metadata: { ...metadata, managedFields: encodeManagers(managers) } };
}

/** True if two lists of managers differ at most in their times: a write that changes only these is ignored. */
export function differOnlyInTime(one: ManagedFieldsEntry[] = [], other: ManagedFieldsEntry[] = []): boolean {
  const timeless = (entries: ManagedFieldsEntry[]): object =>
    entries.map((entry) => ({ ...entry, time: '' }));
  return isDeepStrictEqual(timeless(one), timeless(other));
}
