/**
 * A version of an object, as the bytes that LIST and WATCH write. They are built once, when the object is written, and
 * never serialised again. Only the digits of the resourceVersion are left out. So a version that differs only in these
 * (a deletion, an update of the load generator) shares the bytes:
 *
 *   {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0",…,"resourceVersion":"",…},"spec":{…},…}
 *                                              ^ metadataStart                     ^ revisionAt  ^ metadataEnd
 *
 * Built-in kinds are written in the order of Go's structs, custom resources with sorted keys, as in the real server.
 */

import { dropPaths } from '../../../kube/json/drop.ts';
import { pathTrie } from '../../../kube/json/read.ts';
import { isJsonObject, memberOf, writeJson } from './json.ts';
import type { Json, JsonObject, KubeObject } from './json.ts';
import { readJson } from './read-json.ts';
import { apiVersionOf } from './resources.ts';
import type { ServedResource } from './resources.ts';

/** The fields for selectors and keys; shared between versions in which they are equal. */
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

/** Takes the place of the resourceVersion while the JSON is built; no user can write it by accident. */
const PLACEHOLDER = `resource-version-${crypto.randomUUID()}`;
const MANAGED_FIELDS = pathTrie(['metadata.managedFields']);
/** Revision of the answer to a dry run of a creation, which has no resourceVersion. */
export const NEVER_STORED = 0;
const METADATA_KEY_LENGTH = '"metadata":'.length;
const PARTIAL_OPEN = Buffer.from('{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":');
const OPEN = Buffer.from('{');
const CLOSE = Buffer.from('}');

export function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** The part that versions can share. Offsets do not count the digits. */
export interface Content {
  readonly identity: Identity;
  readonly bytes: Buffer;
  readonly metadataStart: number;
  readonly revisionAt: number;
  readonly metadataEnd: number;
  /** Position at which a version's own stamp overwrites the bytes (load generator), or -1. */
  readonly stampAt: number;
}

export class StoredObject {
  readonly content: Content;
  readonly revision: number;
  readonly #stamp: string;
  readonly #digits: string;

  constructor(content: Content, revision: number, stamp: string = '') {
    this.content = content;
    this.revision = revision;
    this.#stamp = stamp;
    this.#digits = revision === NEVER_STORED ? '' : String(revision);
  }

  static encode(definition: ServedResource, object: KubeObject, revision: number): StoredObject {
    const { before, metadata, after } = arrange(definition, object, revision);
    const head = `${writeJson(before).slice(0, -1)},"metadata":`;
    const [metaHead = '', metaTail = ''] = writeJson(metadata).split(PLACEHOLDER);
    const rest = writeJson(after);
    const metadataStart = Buffer.byteLength(head);
    const revisionAt = metadataStart + Buffer.byteLength(metaHead);
    const content = {
      identity: identityOf(definition, object),
      bytes: Buffer.from(`${head}${metaHead}${metaTail}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`),
      metadataStart,
      revisionAt,
      metadataEnd: revisionAt + Buffer.byteLength(metaTail),
      stampAt: -1,
    };
    return new StoredObject(content, revision);
  }

  get identity(): Identity {
    return this.content.identity;
  }

  get length(): number {
    return this.content.bytes.length + this.#digits.length;
  }

  /** Returns the same content at another revision. */
  withRevision(revision: number): StoredObject {
    return new StoredObject(this.content, revision, this.#stamp);
  }

  /** Copies the JSON into `target`, which must have room for `length` bytes. */
  copyTo(target: Buffer, offset: number): void {
    const { bytes, revisionAt, stampAt } = this.content;
    bytes.copy(target, offset, 0, revisionAt);
    target.write(this.#digits, offset + revisionAt, 'latin1');
    const shift = this.#digits.length;
    bytes.copy(target, offset + revisionAt + shift, revisionAt);
    if (stampAt < 0) return;
    target.write(this.#stamp, offset + stampAt + (stampAt < revisionAt ? 0 : shift), 'latin1');
  }

  toBuffer(): Buffer {
    const buffer = Buffer.allocUnsafe(this.length);
    this.copyTo(buffer, 0);
    return buffer;
  }

  parse(): KubeObject {
    return readJson(this.toBuffer().toString()) as KubeObject;
  }

  /** Returns the object as an item of a list: items of built-in kinds omit kind and apiVersion. */
  listItem(definition: ServedResource): Buffer[] {
    const bytes = this.toBuffer();
    return definition.custom
      ? [bytes]
      : [OPEN, bytes.subarray(this.content.metadataStart - METADATA_KEY_LENGTH)];
  }

  /** Returns the object's PartialObjectMetadata. */
  metadataOnly(): Buffer[] {
    const { metadataStart, metadataEnd } = this.content;
    const metadata = this.toBuffer().subarray(metadataStart, metadataEnd + this.#digits.length);
    return [PARTIAL_OPEN, metadata, CLOSE];
  }
}

/** Returns the JSON of an object, in pieces, without managedFields. */
export function withoutManagedFields(pieces: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(pieces);
  const kept = Buffer.allocUnsafe(bytes.length);
  return kept.subarray(0, dropPaths(bytes, 0, bytes.length, MANAGED_FIELDS, kept, 0));
}

/** Splits the object in the order of the bytes. */
function arrange(
  definition: ServedResource,
  object: KubeObject,
  revision: number,
): Record<'before' | 'metadata' | 'after', JsonObject> {
  const resourceVersion = revision === NEVER_STORED ? undefined : PLACEHOLDER;
  const given: JsonObject = { ...object.metadata, resourceVersion };
  const first = METADATA_ORDER.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
  const metadata: JsonObject = { ...(Object.fromEntries(first) as JsonObject), ...given };
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

/** Returns an object with the members of every level in the order of their names. */
export function sortKeys(object: JsonObject): JsonObject {
  const names = Object.keys(object).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(object[name])]));
}

function sorted(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null);
  return isJsonObject(value) ? sortKeys(value) : value;
}

function identityOf(definition: ServedResource, object: KubeObject): Identity {
  const { name = '', namespace = '', uid = '', labels = {} } = object.metadata;
  const fields: Record<string, string> = { 'metadata.name': name, 'metadata.namespace': namespace };
  for (const [path, absent] of Object.entries(definition.fields ?? {})) {
    const value = path.split('.').reduce<Json | undefined>(memberOf, object);
    fields[path] =
      value === undefined || value === null ? absent : typeof value === 'object' ? '' : String(value);
  }
  for (const [name, derive] of Object.entries(definition.derived ?? {})) fields[name] = derive(object);
  return { key: keyOf(namespace, name), namespace, name, uid, labels, fields };
}
