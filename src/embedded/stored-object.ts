/**
 * One version of one object, as the bytes that LIST and WATCH will write. They are built once, when the object
 * is written; afterwards nothing is ever serialised again. Three offsets make everything else a matter of copying:
 *
 *   {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0",…,"resourceVersion":"4711",…},"spec":{…},…}
 *                                              ^ metadataStart                       ^ revisionStart  ^ metadataEnd (before the comma)
 *
 * Built-in kinds are written in the order of Go's structs, custom resources with sorted keys: as the real server does.
 */

import { isJsonObject, valueAt } from './json.ts';
import type { Json, JsonObject, KubeObject } from './json.ts';
import { apiVersionOf } from './resources.ts';
import type { ResourceDefinition } from './resources.ts';

/** What selectors and keys need; shared between versions that do not differ in it. */
export interface Identity {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

const METADATA_ORDER = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

/** Stands where the resourceVersion goes while the JSON is built; no user can write it by accident. */
const PLACEHOLDER = `resource-version-${crypto.randomUUID()}`;
const METADATA_KEY_LENGTH = '"metadata":'.length;
const PARTIAL_OPEN = Buffer.from('{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":');
const OPEN = Buffer.from('{');
const CLOSE = Buffer.from('}');

export function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

export class StoredObject {
  readonly identity: Identity;
  readonly revision: number;
  readonly bytes: Buffer;
  readonly metadataStart: number;
  readonly metadataEnd: number;
  readonly revisionStart: number;

  constructor(identity: Identity, revision: number, bytes: Buffer, offsets: Offsets) {
    this.identity = identity;
    this.revision = revision;
    this.bytes = bytes;
    this.metadataStart = offsets.metadataStart;
    this.metadataEnd = offsets.metadataEnd;
    this.revisionStart = offsets.revisionStart;
  }

  static encode(definition: ResourceDefinition, object: KubeObject, revision: number): StoredObject {
    const { before, metadata, after } = arrange(definition, object);
    const head = `${JSON.stringify(before).slice(0, -1)},"metadata":`;
    const meta = JSON.stringify(metadata);
    const rest = JSON.stringify(after);
    const hole = meta.indexOf(PLACEHOLDER);
    const digits = String(revision);
    const metadataStart = Buffer.byteLength(head);
    const revisionStart = metadataStart + Buffer.byteLength(meta.slice(0, hole));
    const text = `${meta.slice(0, hole)}${digits}${meta.slice(hole + PLACEHOLDER.length)}`;
    const metadataEnd = metadataStart + Buffer.byteLength(text);
    const bytes = Buffer.from(`${head}${text}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`);
    return new StoredObject(identityOf(definition, object), revision, bytes, {
      metadataStart,
      metadataEnd,
      revisionStart,
    });
  }

  /** The same content at another revision: the bytes with other digits. */
  withRevision(revision: number): StoredObject {
    const before = String(this.revision).length;
    const digits = Buffer.from(String(revision));
    const tail = this.bytes.subarray(this.revisionStart + before);
    const bytes = Buffer.concat([this.bytes.subarray(0, this.revisionStart), digits, tail]);
    return new StoredObject(this.identity, revision, bytes, {
      metadataStart: this.metadataStart,
      metadataEnd: this.metadataEnd + digits.length - before,
      revisionStart: this.revisionStart,
    });
  }

  /** True when both differ in nothing but their revision. */
  sameContentAs(other: StoredObject): boolean {
    const end = this.revisionStart;
    if (other.revisionStart !== end) return false;
    const here = this.bytes.subarray(end + String(this.revision).length);
    const there = other.bytes.subarray(end + String(other.revision).length);
    return this.bytes.subarray(0, end).equals(other.bytes.subarray(0, end)) && here.equals(there);
  }

  parse(): KubeObject {
    return JSON.parse(this.bytes.toString()) as KubeObject;
  }

  /** The pieces of this object inside a list: items of built-in kinds have neither kind nor apiVersion. */
  listItem(definition: ResourceDefinition): Buffer[] {
    if (definition.custom) return [this.bytes];
    return [OPEN, this.bytes.subarray(this.metadataStart - METADATA_KEY_LENGTH)];
  }

  /** The pieces of its PartialObjectMetadata. */
  metadataOnly(): Buffer[] {
    return [PARTIAL_OPEN, this.bytes.subarray(this.metadataStart, this.metadataEnd), CLOSE];
  }
}

interface Offsets {
  readonly metadataStart: number;
  readonly metadataEnd: number;
  readonly revisionStart: number;
}

interface Arranged {
  readonly before: JsonObject;
  readonly metadata: JsonObject;
  readonly after: JsonObject;
}

function arrange(definition: ResourceDefinition, object: KubeObject): Arranged {
  const metadata: JsonObject = {};
  const given: JsonObject = { ...object.metadata, resourceVersion: PLACEHOLDER };
  for (const name of METADATA_ORDER) if (given[name] !== undefined) metadata[name] = given[name];
  Object.assign(metadata, given);
  const { metadata: _, kind: __, apiVersion: ___, ...rest } = object;
  const type = { kind: definition.kind, apiVersion: apiVersionOf(definition) };
  if (!definition.custom) return { before: type, metadata, after: rest };

  const sorted = Object.entries(sortKeys({ ...type, ...rest }));
  return {
    before: Object.fromEntries(sorted.filter(([name]) => name < 'metadata')),
    metadata: sortKeys(metadata),
    after: Object.fromEntries(sorted.filter(([name]) => name > 'metadata')),
  };
}

function sortKeys(object: JsonObject): JsonObject {
  const names = Object.keys(object).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(object[name])]));
}

function sorted(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null);
  return isJsonObject(value) ? sortKeys(value) : value;
}

function identityOf(definition: ResourceDefinition, object: KubeObject): Identity {
  const { name = '', namespace = '', uid = '', labels = {} } = object.metadata;
  const fields: Record<string, string> = { 'metadata.name': name, 'metadata.namespace': namespace };
  for (const [path, absent] of Object.entries(definition.fields ?? {})) {
    const value = valueAt(object, path);
    fields[path] =
      value === undefined || value === null ? absent : typeof value === 'object' ? '' : String(value);
  }
  return { key: keyOf(namespace, name), namespace, name, uid, labels, fields };
}
