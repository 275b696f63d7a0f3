/**
 * Conversion of an object from the JSON of the wire to the content of the notification, in these steps:
 *
 * ```
 *  as received ─► drop (bytes) ─► module transform ─► extracted fields ─► codec ─► index modules
 * ```
 *
 * A step that the informer does not declare is skipped. If no step makes new bytes, the object stays in the log as
 * received, and is not parsed.
 */
import { messageOf } from '../base/errors.ts';
import { parseJson } from '../base/parse-json.ts';
import { DROP_MALFORMED, dropPaths } from '../kube/json/drop.ts';
import { pathTrie } from '../kube/json/read.ts';
import type { PathNode } from '../kube/json/read.ts';
import { EXTRACTION_MALFORMED, EXTRACTION_NO_ROOM, Extractor } from '../kube/json/extraction.ts';
import type { MetadataPrefix } from '../kube/json/extraction.ts';
import { decodeStringContent } from '../kube/json/read.ts';
import type { ShardSpec } from '../shared/protocol.ts';
import type { ObjectLocation } from '../shared/record/delta.ts';
import { NotificationFlag } from '../shared/record/notification.ts';
import { callIndexes, callTransform } from './modules.ts';
import type { LoadedModules, ModuleFunction } from './modules.ts';
import { MsgpackEncoder } from './msgpack-encoder.ts';
import { ByteScratch } from './notification-writer.ts';
import type { NotificationWriter, Warning } from './notification-writer.ts';

/** An object on the way through the steps; reused for every record. */
export class ConvertedObject {
  /** The bytes as received, then as the steps changed them. */
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  /** Whether the bytes differ from those in the log. */
  isInline = false;
  /** Positions in the object as received, if the object's fields are in Go's order. */
  prefix: MetadataPrefix | undefined = undefined;
  /** Bits of NotificationFlag. */
  flags = 0;
  readonly warnings: Warning[] = [];
  /** New structures of the msgpack table. */
  structures: ReturnType<MsgpackEncoder['takeNewStructures']> | undefined = undefined;

  use(bytes: Buffer, start: number, end: number, isInline: boolean): void {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.isInline = isInline;
  }
}

/** Bytes of a Structures record besides the keys. A structure that does not fit stays a map. */
const STRUCTURES_FRAME_BYTES = 64;
const ROOM_BYTES = 1024;
const CLOSE_BRACKET = 0x5d;
const { Malformed, Msgpack, TooLarge, TransformFailed } = NotificationFlag;

export class ObjectConversion {
  readonly #dropped: PathNode | undefined;
  readonly #transform: ModuleFunction | undefined;
  readonly #extractor: Extractor;
  readonly #encoder: MsgpackEncoder | undefined;
  readonly #indexes: LoadedModules['indexes'];
  readonly #scratch: ByteScratch = new ByteScratch();
  /** The notification's text, to which the extracted fields are appended. */
  readonly #text: ByteScratch;

  constructor(spec: ShardSpec, modules: LoadedModules, output: NotificationWriter) {
    this.#dropped = spec.drop.length > 0 ? pathTrie(spec.drop) : undefined;
    this.#transform = modules.transform;
    this.#extractor = new Extractor(spec.fields);
    if (spec.codec === 'msgpack')
      this.#encoder = new MsgpackEncoder(output.prefixBytesMax - STRUCTURES_FRAME_BYTES);
    this.#indexes = modules.indexes;
    this.#text = output.text;
  }

  /**
   * The result of `run` depends on the bytes before this index only, apart from the resourceVersion; -1 if it depends on
   * more bytes of the object.
   */
  get headEnd(): number {
    const isPlain = !this.#dropped && !this.#transform && !this.#encoder && this.#indexes.length === 0;
    return isPlain && this.#extractor.readsOnlyHead ? this.#extractor.headEnd : -1;
  }

  /** Runs the steps. Appends the extracted fields to the notification's text. */
  run(object: ConvertedObject): void {
    const { bytes, start, end } = object;
    const failure = object.flags & TooLarge ? 0 : this.#makeBytes(object);
    if (failure !== 0) {
      // Use the object as received, including the paths to drop.
      object.use(bytes, start, end, false);
      object.flags |= failure;
    }
    if (!extract(this.#extractor, object, this.#text)) object.flags |= Malformed;
    const needsParsed = this.#encoder !== undefined || this.#indexes.length > 0;
    if (needsParsed && (object.flags & (Malformed | TooLarge)) === 0 && !this.#useParsed(object)) {
      object.use(bytes, start, end, false);
      object.flags |= Malformed;
    }
  }

  /** Drops paths, then transforms; returns 0, or the flag of the step that failed. */
  #makeBytes(object: ConvertedObject): number {
    const { bytes, start, end } = object;
    const scratch = this.#scratch;
    if (this.#dropped) {
      scratch.reset();
      scratch.reserve(end - start);
      const length = dropPaths(bytes, start, end, this.#dropped, scratch.bytes, 0);
      if (length === DROP_MALFORMED) return Malformed;
      // An object without any of the paths stays in the log.
      if (length !== end - start) object.use(scratch.bytes, 0, length, true);
    }
    return this.#transform ? this.#runTransform(object, this.#transform) : 0;
  }

  #runTransform(object: ConvertedObject, transform: ModuleFunction): number {
    const parsed = parseObject(textOf(object));
    if (parsed === undefined) return Malformed;
    try {
      const json = callTransform(transform, parsed);
      object.use(json, 0, json.length, true);
      return 0;
    } catch (cause) {
      const message = `transform failed, the object is stored as received: ${messageOf(cause)}`;
      object.warnings.push({ code: 'ERR_KUBELOOM_TRANSFORM', message });
      return TransformFailed;
    }
  }

  /** Runs the steps that need a parsed object; returns false when the object's bytes are not JSON. */
  #useParsed(object: ConvertedObject): boolean {
    const json = textOf(object);
    const parsed = parseObject(json);
    if (parsed === undefined) return false;
    // Encode first: a user's index function could change the object.
    const packed = this.#encoder?.encode(parsed, json);
    if (this.#encoder && packed) {
      object.use(packed, 0, packed.length, true);
      object.flags |= Msgpack;
      object.structures = this.#encoder.takeNewStructures();
    }
    if (this.#indexes.length > 0)
      this.#appendIndexValues(callIndexes(this.#indexes, parsed, object.warnings));
    return true;
  }

  /** Appends the values of module indexes, given as JSON, as a further element of the extracted fields. */
  #appendIndexValues(values: string): void {
    const text = this.#text;
    const end = text.length;
    // Without extracted fields there is no array to add to.
    if (text.bytes[end - 1] !== CLOSE_BRACKET) return;
    text.length = end - 1;
    text.appendText(`,${values}]`);
  }
}

/** Appends the extracted fields. Returns false, without appending, when the object is malformed. */
function extract(extractor: Extractor, object: ConvertedObject, text: ByteScratch): boolean {
  const prefix = object.isInline ? undefined : object.prefix;
  for (let room = ROOM_BYTES; ; room *= 2) {
    text.reserve(room);
    const end = extractor.project(object.bytes, object.start, object.end, text.bytes, text.length, prefix);
    if (end === EXTRACTION_MALFORMED) return false;
    if (end === EXTRACTION_NO_ROOM) continue;
    text.length = end;
    return true;
  }
}

function textOf({ bytes, start, end }: ConvertedObject): string {
  return bytes.toString('utf8', start, end);
}

function parseObject(json: string): object | undefined {
  const parsed = parseJson(json);
  return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
}

/** Returns the extracted fields of an unreadable object: the uid only, in the layout of all extracted fields. */
export function uidFields(log: Buffer, delta: ObjectLocation): string {
  return JSON.stringify([quoted(log, delta, delta.uidOffset, delta.uidLength) ?? null]);
}

/** Returns the content of a JSON string. Names need no decoding, unlike uid and version. */
function quoted(log: Buffer, delta: ObjectLocation, offset: number, length: number): string | undefined {
  const start = delta.offset + offset;
  return length === 0 ? undefined : decodeStringContent(log, start, start + length);
}
