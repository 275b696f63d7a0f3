/**
 * Bodies in Kubernetes' protobuf, as kubectl sends them: an envelope with the type, around a message of the kind. A field that the
 * shape of the kind does not number is refused, never left out.
 */

import { isJsonObject, memberOf, setMember, integerOf } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { readJson } from '../store/read-json.ts';
import { unsupportedProtobuf } from '../store/status.ts';
import { resolved, shapeOf } from '../shapes/shapes.ts';
import type { ShapeNode } from '../shapes/shapes.ts';
import { messageFields } from './protobuf-messages.ts';
import type { MessageField } from './protobuf-messages.ts';

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

const MAGIC = Buffer.from('k8s\0');
const VARINT = 0;
const BYTES = 2;

/** A field on the wire: a number or bytes. */
interface WireField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

/** @throws StatusError 415 for a message that this server does not know */
export function readProtobuf(body: Buffer): JsonObject {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw unsupportedProtobuf('a body without its magic number');
  const envelope = [...fieldsIn(body.subarray(MAGIC.length))];
  const [type, raw] = [1, 2].map((wanted) => bytesOf(envelope.find(({ number }) => number === wanted)));
  const [apiVersion, kind] = [1, 2].map((wanted) => {
    return (
      bytesOf([...fieldsIn(type ?? Buffer.alloc(0))].find(({ number }) => number === wanted))?.toString() ??
      ''
    );
  });
  const shape = shapeOfMessage(apiVersion ?? '', kind ?? '');
  if (kind === undefined || shape === undefined) throw unsupportedProtobuf(`the kind ${kind ?? ''}`);
  const fields = { apiVersion: apiVersion ?? '', kind };
  return Object.assign(fields, read(messageFields(shape), shape.$ref ?? '', raw ?? Buffer.alloc(0), {}));
}

function bytesOf(field: WireField | undefined): Buffer | undefined {
  return Buffer.isBuffer(field?.value) ? field.value : undefined;
}

function* fieldsIn(bytes: Buffer): Generator<WireField> {
  let position = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[position++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw unsupportedProtobuf('a body that ends too early');
  };
  while (position < bytes.length) {
    const tag = Number(varint());
    const [number, wireType] = [tag >> 3, tag & 7];
    if (wireType === VARINT) {
      yield { number, value: varint() };
    } else if (wireType === BYTES) {
      const end = Number(varint()) + position;
      if (end > bytes.length || end < position) throw unsupportedProtobuf('a body that ends too early');
      yield { number, value: bytes.subarray(position, end) };
      position = end;
    } else {
      throw unsupportedProtobuf(`a field of the wire type ${wireType}`);
    }
  }
}

/** Options of a deletion are of every group. */
function shapeOfMessage(apiVersion: string, kind: string): ShapeNode | undefined {
  if (kind === 'DeleteOptions') return { $ref: 'meta.v1.DeleteOptions' };
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return shapeOf(group, version, kind);
}

/** Adds the fields of a message to an object. */
function read(
  fields: ReadonlyMap<number, MessageField>,
  name: string,
  bytes: Buffer,
  result: JsonObject,
): JsonObject {
  for (const { number, value } of fieldsIn(bytes)) {
    const field = fields.get(number);
    if (field === undefined) throw unsupportedProtobuf(`the field ${number} of ${name}`);
    if (field.embedded !== undefined) {
      if (Buffer.isBuffer(value)) read(field.embedded, name, value, result);
      continue;
    }
    const { items, additionalProperties } = field.node;
    const present = memberOf(result, field.name);
    if (typeof additionalProperties === 'object') {
      const map = isJsonObject(present) ? present : {};
      const [key, entry] = entryOf(additionalProperties, value);
      setMember(map, key, entry);
      result[field.name] = map;
    } else if (items !== undefined) {
      const item = single(items, value, true) ?? null;
      if (Array.isArray(present)) present.push(item);
      else result[field.name] = [item];
    } else {
      const { go = '', omitempty } = field.node;
      const decoded = single(field.node, value, go.startsWith('*') || omitempty !== true);
      if (decoded !== undefined) result[field.name] = decoded;
    }
  }
  return result;
}

function entryOf(node: ShapeNode, value: bigint | Buffer): [string, Json | undefined] {
  const parts = Buffer.isBuffer(value) ? [...fieldsIn(value)] : [];
  const [key, content] = [1, 2].map((wanted) => parts.find(({ number }) => number === wanted)?.value);
  return [Buffer.isBuffer(key) ? key.toString() : '', single(node, content ?? Buffer.alloc(0), true)];
}

type Special = (bytes: Buffer) => Json | undefined;

/** Messages that are other values in JSON. */
const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  ['meta.v1.Time', timeOf],
  ['meta.v1.FieldsV1', (bytes) => readJson(bytesOf([...fieldsIn(bytes)][0])?.toString() ?? '{}')],
  ['api.resource.Quantity', (bytes) => bytesOf([...fieldsIn(bytes)][0])?.toString() ?? '0'],
  ['util.intstr.IntOrString', intOrString],
]);

/** Returns a value; undefined for a value that Go's JSON omits. */
function single(node: ShapeNode, value: bigint | Buffer, keepsZero: boolean): Json | undefined {
  const { $ref: name = '' } = node;
  const { type, format } = resolved(node);
  if (typeof value === 'bigint') {
    if (value === 0n && !keepsZero) return undefined;
    return type === 'boolean' ? value !== 0n : integerOf(value);
  }
  const special = SPECIAL.get(name);
  if (special !== undefined) return special(value);
  if (format === 'byte') return value.toString('base64');
  if (type === 'string') return value.length === 0 && !keepsZero ? undefined : value.toString();
  return read(messageFields(node), name, value, {});
}

/** A zero time is an empty message. */
function timeOf(bytes: Buffer): string | undefined {
  const seconds = [...fieldsIn(bytes)].find(({ number }) => number === 1)?.value;
  return typeof seconds === 'bigint'
    ? `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}Z`
    : undefined;
}

function intOrString(bytes: Buffer): Json {
  const fields = new Map([...fieldsIn(bytes)].map(({ number, value }) => [number, value]));
  const text = fields.get(3);
  return fields.get(1) === 1n ? (Buffer.isBuffer(text) ? text.toString() : '') : Number(fields.get(2) ?? 0n);
}
