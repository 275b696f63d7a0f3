/**
 * The types of metadata, as a Go server decodes them: a value of another type is a 400, a null is an absent field, and
 * an unknown field is dropped.
 */

import { isJsonObject } from '../store/json.ts';
import type { Json, ObjectMeta, OwnerReference } from '../store/json.ts';
import type { ServedResource } from '../store/resources.ts';
import { badRequest, quote } from '../store/status.ts';

/** The Go type of a field; a list or a map names the type of the elements, a struct the types of the fields. */
type Shape =
  | 'string'
  | 'bool'
  | 'int64'
  | 'time'
  | 'any'
  | { readonly form: 'list'; readonly of: Shape }
  | { readonly form: 'map'; readonly of: Shape }
  | { readonly form: 'struct'; readonly name: string; readonly fields: Readonly<Record<string, Shape>> };

const OWNER: Shape = {
  form: 'struct',
  name: 'OwnerReference',
  fields: {
    apiVersion: 'string',
    kind: 'string',
    name: 'string',
    uid: 'string',
    controller: 'bool',
    blockOwnerDeletion: 'bool',
  },
};

const MANAGER: Shape = {
  form: 'struct',
  name: 'ManagedFieldsEntry',
  fields: {
    manager: 'string',
    operation: 'string',
    apiVersion: 'string',
    time: 'time',
    fieldsType: 'string',
    fieldsV1: 'any',
    subresource: 'string',
  },
};

const METADATA: Shape = {
  form: 'struct',
  name: 'ObjectMeta',
  fields: {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    selfLink: 'string',
    uid: 'string',
    resourceVersion: 'string',
    generation: 'int64',
    creationTimestamp: 'time',
    deletionTimestamp: 'time',
    deletionGracePeriodSeconds: 'int64',
    labels: { form: 'map', of: 'string' },
    annotations: { form: 'map', of: 'string' },
    ownerReferences: { form: 'list', of: OWNER },
    finalizers: { form: 'list', of: 'string' },
    managedFields: { form: 'list', of: MANAGER },
  },
};

const LAYOUT = '2006-01-02T15:04:05Z07:00';
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

interface Decoding {
  readonly definition: ServedResource;
  /** Paths of unknown fields. */
  readonly unknown: string[];
}

/** Returns the metadata with known fields of their types. @throws StatusError 400 */
export function decodeMetadata(definition: ServedResource, given: Json | undefined): ObjectMeta {
  if (given === undefined || given === null) return {};
  return (decode(given, METADATA, { definition, unknown: [] }, 'metadata') as ObjectMeta | undefined) ?? {};
}

/** Returns the paths of unknown fields in metadata. @throws StatusError 400 */
export function unknownMetadata(definition: ServedResource, given: Json | undefined): string[] {
  const unknown: string[] = [];
  if (given !== undefined && given !== null) {
    decode(given, METADATA, { definition, unknown }, 'metadata');
  }
  return unknown;
}

function decode(value: Json, shape: Shape, to: Decoding, path: string, owner = ''): Json | undefined {
  if (value === null) return undefined;
  if (typeof shape === 'string') return scalar(value, shape, to, path, owner);
  if (shape.form === 'list') {
    if (!Array.isArray(value)) throw mistyped(value, shape, to, path, owner);
    return value.map(
      (item, index) => decode(item, shape.of, to, `${path}[${index}]`, owner) ?? zero(shape.of),
    );
  }
  if (!isJsonObject(value)) throw mistyped(value, shape, to, path, owner);
  const entries: [string, Json][] = [];
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    if (shape.form === 'map') {
      entries.push([name, decode(field, shape.of, to, path, owner) ?? zero(shape.of)]);
      continue;
    }
    const inside = `${path}.${name}`;
    const type = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    const kept = type && decode(field, type, to, inside, shape.name);
    if (type === undefined) to.unknown.push(inside);
    if (kept !== undefined) entries.push([name, kept]);
  }
  return Object.fromEntries(entries);
}

function scalar(value: Json, shape: Shape & string, to: Decoding, path: string, owner: string): Json {
  switch (shape) {
    case 'any':
      return value;
    case 'time':
      if (typeof value === 'string' && TIME.test(value)) return value;
      if (typeof value !== 'string') throw mistyped(value, 'string', to, path, owner);
      throw refusal(
        to,
        `parsing time ${quote(value)} as ${quote(LAYOUT)}: cannot parse ${quote(value)} as "2006"`,
      );
    case 'string':
    case 'bool':
      if (typeof value === (shape === 'bool' ? 'boolean' : shape)) return value;
      throw mistyped(value, shape, to, path, owner);
    default:
      if (Number.isInteger(value)) return value;
      throw mistyped(value, shape, to, path, owner);
  }
}

/** The zero value of a null in a list or in a map. */
function zero(shape: Shape): Json {
  return typeof shape === 'string' ? '' : {};
}

function mistyped(value: Json, shape: Shape, to: Decoding, path: string, owner: string): Error {
  const found = Array.isArray(value) ? 'array' : isJsonObject(value) ? 'object' : goType(value);
  return refusal(
    to,
    `json: cannot unmarshal ${found} into ${target(to.definition, path, owner)} of type ${typeName(shape)}`,
  );
}

/** For a custom resource only the metadata is decoded; for a built-in kind the whole object. */
function target({ custom, kind }: ServedResource, path: string, owner: string): string {
  const plain = path.replaceAll(/\[\d+\]/g, '');
  if (owner === '') return custom === true ? 'Go value' : `Go struct field ${kind}.${plain}`;
  return `Go struct field ${owner}.${custom === true ? plain.replace(/^metadata\./, '') : plain}`;
}

function refusal({ definition }: Decoding, why: string): Error {
  const { kind, version } = definition;
  return badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${why}`);
}

function goType(value: Json): string {
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function typeName(shape: Shape): string {
  if (typeof shape === 'string') return shape;
  if (shape.form === 'list') return `[]${typeName(shape.of)}`;
  return shape.form === 'map' ? `map[string]${typeName(shape.of)}` : `v1.${shape.name}`;
}

/** Returns each owner once, and the uids of duplicate owners. */
export function distinctOwners(owners: readonly OwnerReference[]): {
  owners: OwnerReference[];
  twice: string[];
} {
  const kept = new Map<string, OwnerReference>();
  const twice = new Set<string>();
  for (const owner of owners) {
    const identity = JSON.stringify(
      Object.entries(owner).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
    if (kept.has(identity)) twice.add(owner.uid);
    else kept.set(identity, owner);
  }
  return { owners: [...kept.values()], twice: [...twice] };
}

/** The warning about duplicate owners. A patch is checked after it is applied. */
export function duplicateOwners(isPatch: boolean, uids: readonly string[]): string {
  const when = isPatch ? ' after mutating admission happens' : '';
  const past = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24';
  const what = `.metadata.ownerReferences contains duplicate entries${when}`;
  return `${what}; ${past}; please fix your requests; duplicate UID(s) observed: ${uids.join(', ')}`;
}
