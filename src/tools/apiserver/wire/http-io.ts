/** Reading of JSON bodies, and writing of JSON answers. Long answers are written in pieces, at the reader's pace. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { parseJson } from '../../../base/parse-json.ts';
import { writeJson } from '../store/json.ts';
import type { Json } from '../store/json.ts';
import { readDocument } from '../store/read-json.ts';
import type { JsonDocument } from '../store/read-json.ts';
import {
  badRequest,
  entityTooLarge,
  noRepresentation,
  notAcceptable,
  quote,
  unsupportedMediaType,
} from '../store/status.ts';
import type { Status } from '../store/status.ts';
import { PROTOBUF_TYPE, readProtobuf } from './protobuf.ts';

const WRITE_BYTES = 256 * 1024;
/** Longer answers are compressed for clients that accept it, with this level, as in the real server. */
const PLAIN_BYTES_MAX = 128 * 1024;
const GZIP = { level: 1 };
const JSON_TYPE = 'application/json';
const NEWLINE = Buffer.from('\n');

export interface ServerExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw entityTooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws StatusError 400, which does not quote the body: it may be a Secret */
export function jsonOf(body: Buffer): Json {
  const json = parseJson(body.toString()) as Json | undefined;
  if (json === undefined) throw badRequest('the body is not valid JSON');
  return json;
}

export function contentType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? JSON_TYPE).split(';')[0]?.trim() ?? '';
}

/**
 * Reads a body of JSON, or of the protobuf that `kubectl create` sends.
 *
 * @param isStruct true for the body of a built-in kind
 * @throws StatusError 415
 */
export function parseBody(request: IncomingMessage, body: Buffer, isStruct: boolean): JsonDocument {
  const type = contentType(request);
  if (type === PROTOBUF_TYPE) return { value: readProtobuf(body), members: [] };
  if (type !== JSON_TYPE) throw unsupportedMediaType();
  return readDocument(body.toString(), isStruct);
}

export function sendJson(response: ServerResponse, code: number, body: Buffer | object): void {
  const bytes = Buffer.isBuffer(body) ? Buffer.concat([body, NEWLINE]) : Buffer.from(`${writeJson(body)}\n`);
  const sent = isCompressed(response, bytes) ? gzipSync(bytes, GZIP) : bytes;
  response.writeHead(code, { 'Content-Type': JSON_TYPE, 'Content-Length': sent.length });
  response.end(sent);
}

/** Decides by the first bytes of the answer, at most all of them, and sets the headers. */
function isCompressed(response: ServerResponse, first: Buffer): boolean {
  const accepted = (response.req.headers['accept-encoding'] ?? '').split(',');
  const isGzip = first.length > PLAIN_BYTES_MAX && accepted.some((token) => token.trim() === 'gzip');
  if (isGzip) response.setHeader('Content-Encoding', 'gzip').setHeader('Vary', 'Accept-Encoding');
  return isGzip;
}

export function sendStatus(response: ServerResponse, status: Status): void {
  const seconds = status.details?.retryAfterSeconds;
  if (seconds !== undefined) response.setHeader('Retry-After', seconds);
  sendJson(response, status.code ?? 200, status);
}

/** Streams a document in chunks, each after the previous chunk was sent. */
export function sendPieces({ response }: ServerExchange, pieces: Iterable<Buffer>): Promise<void> {
  const rest = chunks(pieces);
  const first = rest.next().value ?? Buffer.alloc(0);
  const document = Readable.from(prepend(first, rest));
  response.setHeader('Content-Type', JSON_TYPE);
  if (!isCompressed(response, first)) return pipeline(document, response);
  return pipeline(document, createGzip(GZIP), response);
}

function* chunks(pieces: Iterable<Buffer>): Generator<Buffer, undefined> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < WRITE_BYTES) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
  return undefined;
}

function* prepend(first: Buffer, rest: Iterable<Buffer>): Generator<Buffer> {
  yield first;
  yield* rest;
}

/** The form of objects in an answer. */
export interface Representation {
  /** PartialObjectMetadata in place of objects. */
  readonly isPartial: boolean;
  /** A Table whose rows contain this form of the objects. */
  readonly includeObject?: 'Metadata' | 'None' | 'Object' | undefined;
  /** The kind of metadata that the client accepts: of an object or of a list; undefined for whole objects. */
  readonly as?: string | undefined;
  /** Objects omit managedFields. */
  readonly dropsManagedFields: boolean;
}

const METADATA_KINDS: readonly string[] = ['PartialObjectMetadata', 'PartialObjectMetadataList'];

/** @throws StatusError 400 for an unknown form */
function includedObject(query: URLSearchParams): Representation['includeObject'] {
  const given = query.get('includeObject') || 'Metadata';
  if (given === 'Metadata' || given === 'None' || given === 'Object') return given;
  const why = `includeObject: Invalid value: ${quote(given)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${why}`);
}

/** Returns the form that the client prefers. */
export function representationFor(request: IncomingMessage, query: URLSearchParams): Representation {
  let isJson = false;
  for (const clause of (request.headers.accept || '*/*').split(',')) {
    const [type, ...parameters] = clause.split(';').map((part) => part.trim());
    if (type !== JSON_TYPE && type !== 'application/*' && type !== '*/*') continue;
    isJson = true;
    const valueOf = (name: string): string | undefined =>
      parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
    const as = valueOf('as');
    const isMeta = valueOf('g') === 'meta.k8s.io' && /^v1(?:beta1)?$/.test(valueOf('v') ?? '');
    const isPartial = as !== undefined && isMeta && METADATA_KINDS.includes(as);
    // Unknown targets are ignored, as in the real server.
    const dropsManagedFields = valueOf('drop')?.split('+').includes('metadata.managedFields') === true;
    if (as === 'Table' && isMeta && valueOf('v') === 'v1')
      return { isPartial: false, includeObject: includedObject(query), dropsManagedFields };
    if (as === undefined || isPartial) return { isPartial, as, dropsManagedFields };
  }
  throw isJson
    ? notAcceptable(`only the following media types are accepted: ${JSON_TYPE}`)
    : noRepresentation();
}
