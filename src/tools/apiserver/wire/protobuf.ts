/**
 * Bodies in Kubernetes' protobuf, as `kubectl create` sends them: an envelope with the type, around a message of the
 * kind. Only the messages that `kubectl create` makes are known; a field outside them is refused, never left out.
 */

import { isJsonObject, memberOf, setMember } from '../store/json.ts';
import type { Json, JsonObject } from '../store/json.ts';
import { unsupportedProtobuf } from '../store/status.ts';
import { MESSAGES } from './protobuf-messages.ts';
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
  if (kind === undefined || !MESSAGES.has(kind)) throw unsupportedProtobuf(`the kind ${kind ?? ''}`);
  return { apiVersion: apiVersion ?? '', kind, ...message(kind, raw ?? Buffer.alloc(0)) };
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

function message(name: string, bytes: Buffer): JsonObject {
  const fields = MESSAGES.get(name);
  if (fields === undefined) throw unsupportedProtobuf(`the message ${name}`);
  const result: JsonObject = {};
  for (const { number, value } of fieldsIn(bytes)) {
    const field = fields.get(number);
    if (field === undefined) throw unsupportedProtobuf(`the field ${number} of ${name}`);
    const present = memberOf(result, field.name);
    if (field.form === 'map') {
      const map = isJsonObject(present) ? present : {};
      const [key, entry] = entryOf(field, value);
      setMember(map, key, entry);
      result[field.name] = map;
      continue;
    }
    const decoded = single(field, value);
    if (decoded === undefined) continue;
    if (field.form !== 'list') result[field.name] = decoded;
    else if (Array.isArray(present)) present.push(decoded);
    else result[field.name] = [decoded];
  }
  return result;
}

function entryOf(field: MessageField, value: bigint | Buffer): [string, Json | undefined] {
  const parts = Buffer.isBuffer(value) ? [...fieldsIn(value)] : [];
  const [key, content] = [1, 2].map((wanted) => parts.find(({ number }) => number === wanted)?.value);
  const decoded = single({ ...field, keepsZero: true }, content ?? Buffer.alloc(0));
  return [Buffer.isBuffer(key) ? key.toString() : '', decoded];
}

/** Returns a value; undefined for a value that Go's JSON omits. */
function single({ type, keepsZero, form }: MessageField, value: bigint | Buffer): Json | undefined {
  const isKept = keepsZero || form === 'list';
  if (typeof value === 'bigint') {
    if (value === 0n && !isKept) return undefined;
    return type === 'bool' ? value !== 0n : Number(value);
  }
  switch (type) {
    case 'string':
      return value.length === 0 && !isKept ? undefined : value.toString();
    case 'bytes':
      return value.toString('base64');
    case 'Time':
      return timeOf(value);
    case 'Quantity':
      return bytesOf([...fieldsIn(value)][0])?.toString() ?? '0';
    case 'IntOrString':
      return intOrString(value);
    default:
      return message(type, value);
  }
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
