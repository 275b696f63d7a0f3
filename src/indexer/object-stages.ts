/**
 * Stages that the bytes of one object pass in a shard, in this order:
 *
 * ```
 *  as received ─► drop (bytes) ─► module transform ─► projection ─► codec ─► index modules
 * ```
 *
 * A stage is skipped when the informer does not declare it. Without a stage that makes new bytes, the object stays in
 * the log as received, and nothing is parsed.
 */
import { DROP_MALFORMED, dropPaths } from '../kube/json/drop.ts';
import { pathTrie } from '../kube/json/read.ts';
import type { PathNode } from '../kube/json/read.ts';
import { NotificationFlag } from '../shared/record/notification.ts';
import type { ShardSpec } from '../shared/protocol.ts';
import { ModuleIndexes } from './module-indexes.ts';
import { ModuleTransform } from './module-transform.ts';
import type { LoadedModules } from './modules.ts';
import { MsgpackEncoder } from './msgpack-encoder.ts';
import { ProjectionWriter, appendIndexValues } from './projection-writer.ts';
import { ByteScratch } from './byte-scratch.ts';
import type { StagedObject } from './staged-object.ts';

export class ObjectStages {
  readonly #dropped: PathNode | undefined;
  readonly #transform: ModuleTransform | undefined;
  readonly #projection: ProjectionWriter;
  readonly #encoder: MsgpackEncoder | undefined;
  readonly #indexes: ModuleIndexes | undefined;
  readonly #scratch: ByteScratch = new ByteScratch();
  /** Whether objects stay as received, and only the extracted fields are needed. */
  readonly #isPlain: boolean;

  /** @param structureBytesMax limit of one structure in a record */
  constructor(spec: ShardSpec, modules: LoadedModules, structureBytesMax: number) {
    this.#dropped = spec.drop.length > 0 ? pathTrie(spec.drop) : undefined;
    this.#transform = modules.transform && new ModuleTransform(modules.transform);
    this.#projection = new ProjectionWriter(spec.fields);
    this.#encoder = spec.codec === 'msgpack' ? new MsgpackEncoder(structureBytesMax) : undefined;
    this.#indexes = modules.indexes.length > 0 ? new ModuleIndexes(modules.indexes) : undefined;
    this.#isPlain = !this.#dropped && !this.#transform && !this.#encoder && !this.#indexes;
  }

  /**
   * End of the part of the last object that determined `run`'s result, see `ProjectionWriter.headEnd`; -1 for all of
   * it.
   */
  get headEnd(): number {
    return this.#isPlain ? this.#projection.headEnd : -1;
  }

  /** Runs the stages. Appends the extracted fields to `text`, whose end stays within `textBytesMax`. */
  run(object: StagedObject, text: ByteScratch, textBytesMax: number): void {
    const { bytes, start, end } = object;
    const isIdentityOnly = (object.flags & NotificationFlag.TooLarge) !== 0;
    if (!isIdentityOnly) this.#makeBytes(object);
    if (!this.#projection.write(object, text, textBytesMax)) object.flags |= NotificationFlag.Malformed;
    const needsParsed = this.#encoder !== undefined || this.#indexes !== undefined;
    const isReadable = (object.flags & (NotificationFlag.Malformed | NotificationFlag.TooLarge)) === 0;
    if (needsParsed && isReadable && !this.#useParsed(object, text, textBytesMax)) {
      useReceived(object, bytes, start, end);
      object.flags |= NotificationFlag.Malformed;
    }
  }

  #makeBytes(object: StagedObject): void {
    const { bytes, start, end } = object;
    if (this.#dropped && !this.#drop(object, this.#dropped)) {
      object.flags |= NotificationFlag.Malformed;
      return;
    }
    if (!this.#transform) return;
    const result = this.#transform.run(object);
    if (result === 'done') return;
    // Use the object as received, including the paths to drop.
    useReceived(object, bytes, start, end);
    object.flags |= result === 'failed' ? NotificationFlag.TransformFailed : NotificationFlag.Malformed;
  }

  /** Drops the paths; returns false when the object is malformed. */
  #drop(object: StagedObject, paths: PathNode): boolean {
    const { bytes, start, end } = object;
    const scratch = this.#scratch;
    scratch.reset();
    scratch.reserve(end - start);
    scratch.end = dropPaths(bytes, start, end, paths, scratch.bytes, 0);
    if (scratch.end === DROP_MALFORMED) return false;
    // An object without any of the paths stays in the log.
    if (scratch.end === end - start) return true;
    object.bytes = scratch.bytes;
    object.start = 0;
    object.end = scratch.end;
    object.isInline = true;
    return true;
  }

  /** Runs the stages that need a parsed object; returns false when its bytes are not JSON. */
  #useParsed(object: StagedObject, text: ByteScratch, textBytesMax: number): boolean {
    const json = object.bytes.toString('utf8', object.start, object.end);
    const parsed = parseObject(json);
    if (parsed === undefined) return false;
    // Encode first: a user's index function could change the object.
    const packed = this.#encoder?.encode(parsed, json);
    if (this.#encoder && packed) {
      object.bytes = packed;
      object.start = 0;
      object.end = packed.length;
      object.isInline = true;
      object.flags |= NotificationFlag.Msgpack;
      object.structures = this.#encoder.takeNewStructures();
    }
    if (this.#indexes) {
      const values = this.#indexes.valuesOf(parsed, object.warnings);
      appendIndexValues(values, object.warnings, text, textBytesMax);
    }
    return true;
  }
}

function useReceived(object: StagedObject, bytes: Buffer, start: number, end: number): void {
  object.bytes = bytes;
  object.start = start;
  object.end = end;
  object.isInline = false;
}

function parseObject(json: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
