/**
 * Values as a Go server decodes them, by the shape of their kind: a value of another type is a 400, a null is an absent field, an
 * unknown field is dropped and reported, and a zero that Go omits is not kept.
 */

import { isInstant } from '../store/instant.ts';
import { isInteger, isJsonObject, isNumber, textOf } from '../store/json.ts';
import type { Json, JsonObject, ObjectMeta } from '../store/json.ts';
import { canonicalQuantity, quantityFault } from '../store/quantity.ts';
import type { ServedResource } from '../store/resources.ts';
import { badRequest, quote } from '../store/status.ts';
import { resolved } from './shapes.ts';
import type { ShapeNode } from './shapes.ts';

/** The field of a value, for the messages of the server. */
interface Place {
  /** Path from the root of the object: `spec.ports[0].name`. */
  readonly path: string;
  /** Short name of the struct around the field: `core.v1.ServicePort`; '' at the root. */
  readonly struct: string;
  /** Type in Go as the struct writes it. */
  readonly go: string;
}

interface Decoding {
  /** Returns the error for a value that cannot be decoded. */
  readonly refuse: (why: string) => Error;
  /** True if Go decodes the metadata alone, as for custom resources. */
  readonly isMetadataAlone?: boolean;
  /** Paths of unknown fields. */
  readonly unknown: string[];
  /** True for a body that the server has yet to read: Go omits zeros when it writes the object. */
  readonly keepsZeros?: boolean;
}

/** Returns what decodes the bodies of a resource, and adds the paths of unknown fields. */
export function decodingOf({ kind, version, custom }: ServedResource, unknown: string[]): Decoding {
  const refuse = (why: string): Error =>
    badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${why}`);
  return { refuse, unknown, isMetadataAlone: custom === true };
}

/** Returns the metadata of a body, with zeros, because Go omits them when it writes. @throws StatusError 400 */
export function decodeMetadata(
  definition: ServedResource,
  unknown: string[],
  value: Json | undefined,
): ObjectMeta {
  const to = { ...decodingOf(definition, unknown), keepsZeros: true };
  const struct = definition.custom === true ? '' : definition.kind;
  const place = { path: 'metadata', struct, go: 'metav1.ObjectMeta' };
  return (decode(to, value ?? null, { $ref: 'meta.v1.ObjectMeta' }, place) as ObjectMeta | undefined) ?? {};
}

/** Returns the value in the form in which a server keeps it; undefined for a null. @throws StatusError 400 */
export function decodeShape(to: Decoding, value: Json, node: ShapeNode, path = ''): Json | undefined {
  return decode(to, value, node, { path, struct: '', go: node.$ref?.replace(/^\w+\./, '') ?? '' });
}

function decode(to: Decoding, value: Json, node: ShapeNode, place: Place): Json | undefined {
  if (value === null) return undefined;
  const { $ref: name = '' } = node;
  const special = SPECIAL.get(name);
  if (special !== undefined) return special(to, value, place);
  const shape = resolved(node);
  const { properties, additionalProperties, items, type } = shape;
  if (properties !== undefined) return struct(to, value, shape, name, place);
  if (items !== undefined) return list(to, value, items, place);
  if (typeof additionalProperties === 'object') return map(to, value, additionalProperties, place);
  if (type === undefined || type === 'object') return value;
  return scalar(to, value, shape, place);
}

function struct(to: Decoding, value: Json, shape: ShapeNode, name: string, place: Place): Json {
  if (!isJsonObject(value)) throw mistyped(to, value, place);
  const entries: [string, Json][] = [];
  for (const [field, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const path = place.path === '' ? field : `${place.path}.${field}`;
    const property = Object.hasOwn(shape.properties ?? {}, field) ? shape.properties?.[field] : undefined;
    if (property === undefined) {
      to.unknown.push(path);
      continue;
    }
    const kept = decode(to, member, property, { path, struct: name, go: property.go ?? '' });
    const isKept = to.keepsZeros === true || (kept !== undefined && !isOmitted(kept, property));
    if (kept !== undefined && isKept) entries.push([field, kept]);
  }
  const decoded = Object.fromEntries(entries);
  return to.keepsZeros === true ? decoded : { ...zeroStruct(shape, place.path === ''), ...decoded };
}

/** Members of a root that the server sets. */
const SET_BY_SERVER: ReadonlySet<string> = new Set(['metadata', 'status']);
/** Returns the members of a struct that Go always writes: structs that are no pointers, and scalars without `omitempty`. */
function zeroStruct(shape: ShapeNode, isRoot: boolean): JsonObject {
  const entries = Object.entries(shape.properties ?? {}).flatMap(([name, node]): [string, Json][] => {
    const { go = '', omitempty, $ref } = node;
    if (go.startsWith('*') || (isRoot && SET_BY_SERVER.has(name))) return [];
    if ($ref !== undefined) return SPECIAL.has($ref) ? [] : [[name, zeroStruct(resolved(node), false)]];
    const value = omitempty === true ? null : zero(node);
    return value === null || typeof value === 'object' ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** True for a zero value that Go leaves out. A pointer keeps the zero that it refers to. */
function isOmitted(value: Json, { omitempty, go = '', $ref }: ShapeNode): boolean {
  if (omitempty !== true || go.startsWith('*') || $ref !== undefined) return false;
  if (typeof value !== 'object' || value === null) return !value;
  return Object.keys(value).length === 0;
}

function list(to: Decoding, value: Json, items: ShapeNode, place: Place): Json {
  if (!Array.isArray(value)) throw mistyped(to, value, place);
  const go = place.go.replace(/^\*?\[\]/, '');
  return value.map(
    (item, index) =>
      decode(to, item, items, { ...place, go, path: `${place.path}[${index}]` }) ?? zero(items),
  );
}

function map(to: Decoding, value: Json, entry: ShapeNode, place: Place): Json {
  if (!isJsonObject(value)) throw mistyped(to, value, place);
  const go = place.go.replace(/^\*?map\[\w+\]/, '');
  const entries = Object.entries(value).flatMap(([name, member]): [string, Json][] =>
    member === undefined ? [] : [[name, decode(to, member, entry, { ...place, go }) ?? zero(entry)]],
  );
  return Object.fromEntries(entries);
}

function isInt32(value: Json): boolean {
  return isInteger(value) && BigInt.asIntN(32, BigInt(value)) === BigInt(value);
}

function scalar(to: Decoding, value: Json, { type, format = '' }: ShapeNode, place: Place): Json {
  if (type === 'integer') {
    if (format === 'int32' ? isInt32(value) : isInteger(value)) return value;
    throw mistyped(to, value, place, isNumber(value) ? `number ${textOf(value)}` : undefined);
  }
  if (type === 'number' && isNumber(value)) return Number(value);
  if (type !== typeof value) throw mistyped(to, value, place);
  const fault = format === 'byte' ? base64Fault(textOf(value)) : undefined;
  if (fault !== undefined) throw to.refuse(`illegal base64 data at input byte ${fault}`);
  // Go writes the bytes again, without the line breaks.
  return format === 'byte' ? textOf(value).replaceAll(/[\r\n]/g, '') : value;
}

/** Returns the index at which Go stops to read base64; undefined for a valid text. */
function base64Fault(text: string): number | undefined {
  const digits = text.replaceAll(/[\r\n]/g, '');
  const length = /^[A-Za-z0-9+/]*/.exec(digits)?.[0].length ?? 0;
  const [inQuantum, rest] = [length % 4, digits.slice(length)];
  if (rest === '') return inQuantum === 0 ? undefined : length - inQuantum;
  if (rest.startsWith('=') && inQuantum >= 2) {
    const padding = '='.repeat(4 - inQuantum);
    if (rest === padding) return undefined;
    if (rest.startsWith(padding)) return length + padding.length;
    return rest === '=' ? digits.length : length;
  }
  return length;
}

type Special = (to: Decoding, value: Json, place: Place) => Json | undefined;

/** The zero value of a null in a list or in a map. */
function zero(node: ShapeNode): Json {
  const { type } = resolved(node);
  if (type === 'string') return '';
  if (type === 'integer' || type === 'number') return 0;
  return type === 'boolean' ? false : type === 'object' ? {} : null;
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const SECONDS_LENGTH = '2006-01-02T15:04:05'.length;
const MICROSECONDS_LENGTH = '.000000'.length;

/** Returns a time in UTC: in microseconds if the layout has a fraction, in seconds if it has none. */
function time(to: Decoding, value: Json, place: Place, layout: string): Json {
  if (typeof value !== 'string') throw mistyped(to, value, { ...place, go: 'string' });
  const parsing = `parsing time ${quote(value)}`;
  const unread = (text: string, as: string): Error =>
    to.refuse(`${parsing} as ${quote(layout)}: cannot parse ${quote(text)} as ${quote(as)}`);
  const [, seconds, fraction = '', zone = ''] = TIME.exec(value) ?? [];
  if (seconds === undefined) throw unread(value, '2006');
  const isMicro = layout.includes('.');
  if (isMicro && fraction.length !== MICROSECONDS_LENGTH)
    throw unread(value.slice(SECONDS_LENGTH), '.000000');
  const instant = new Date(`${seconds}${zone}`);
  if (!isInstant(seconds) || Number.isNaN(instant.getTime())) throw to.refuse(`${parsing}: day out of range`);
  return `${instant.toISOString().slice(0, SECONDS_LENGTH)}${isMicro ? fraction : ''}Z`;
}

function quantity(to: Decoding, value: Json): Json {
  const text = textOf(value);
  const canonical = canonicalQuantity(text);
  if (canonical === undefined) throw to.refuse(quantityFault(text));
  return canonical;
}

function intOrString(to: Decoding, value: Json, place: Place): Json {
  if (typeof value === 'string' || isInt32(value)) return value;
  const shown = isNumber(value) ? `number ${textOf(value)}` : undefined;
  throw mistyped(to, value, { ...place, go: 'int32' }, shown);
}

const SCHEMA: ShapeNode = { $ref: 'apiextensions.v1.JSONSchemaProps' };

/** Decodes a schema, a list of schemas, or a value of another form, which is kept. */
function schemaOr(to: Decoding, value: Json, place: Place): Json | undefined {
  if (Array.isArray(value)) return list(to, value, SCHEMA, place);
  return isJsonObject(value) ? decode(to, value, SCHEMA, place) : value;
}

/** Decoders of types that Go decodes by a function. */
const SPECIAL: ReadonlyMap<string, Special> = new Map<string, Special>([
  ['meta.v1.Time', (to, value, place) => time(to, value, place, '2006-01-02T15:04:05Z07:00')],
  ['meta.v1.MicroTime', (to, value, place) => time(to, value, place, '2006-01-02T15:04:05.000000Z07:00')],
  ['api.resource.Quantity', quantity],
  ['util.intstr.IntOrString', intOrString],
  ['apiextensions.v1.JSONSchemaPropsOrBool', schemaOr],
  ['apiextensions.v1.JSONSchemaPropsOrArray', schemaOr],
]);

/** Returns the name of a JSON type in the errors of Go. */
export function goType(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (isNumber(value)) return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function mistyped(to: Decoding, value: Json, place: Place, shown?: string): Error {
  return to.refuse(
    `json: cannot unmarshal ${shown ?? goType(value)} into ${target(to, place)} of type ${typeName(place)}`,
  );
}

/** For a custom resource only the metadata is decoded; for a built-in kind the whole object. */
function target({ isMetadataAlone }: Decoding, { path, struct: name }: Place): string {
  const plain = path.replaceAll(/\[\d+\]/g, '');
  if (name === '') return 'Go value';
  return `Go struct field ${lastPart(name)}.${isMetadataAlone === true ? plain.replace(/^metadata\./, '') : plain}`;
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Returns a type as Go prints it: a type of the same package and an alias of a package have the version for a prefix. */
function typeName({ go, struct: name }: Place): string {
  const version = name.split('.')[1] ?? '';
  return go
    .replace(/^\*/, '')
    .replace('[]byte', '[]uint8')
    .replaceAll(/(?:\b(\w+)\.)?\b([A-Z]\w*)/g, (_, from: string | undefined, type: string) => {
      return `${from === undefined ? version : from.replace(/^.*?(v\d\w*)$/, '$1')}.${type}`;
    });
}
