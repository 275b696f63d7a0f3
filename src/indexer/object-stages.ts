/**
 * What happens to the bytes of one object in a shard, in this order:
 *
 * ```
 *  as received ─► drop (bytes) ─► module transform ─► projection ─► codec ─► index modules
 * ```
 *
 * Each stage is skipped when the informer does not declare it. With none of them that makes new bytes, the
 * object stays where the wire put it, in the log, and nothing is parsed.
 */
import { DROP_MALFORMED, dropPaths } from '../json/drop.ts';
import { pathTrie } from '../json/path-trie.ts';
import type { PathNode } from '../json/path-trie.ts';
import { NotificationFlag } from '../record/notification.ts';
import type { ShardSpec } from '../threads/protocol.ts';
import { ModuleIndexes } from './module-indexes.ts';
import { ModuleTransform } from './module-transform.ts';
import type { LoadedModules } from './modules.ts';
import { MsgpackEncoder } from './msgpack-encoder.ts';
import { ProjectionWriter, appendIndexValues } from './projection-writer.ts';
import { Scratch } from './scratch.ts';
import type { StagedObject } from './staged-object.ts';

export class ObjectStages {
  readonly #dropped: PathNode | undefined;
  readonly #transform: ModuleTransform | undefined;
  readonly #projection: ProjectionWriter;
  readonly #encoder: MsgpackEncoder | undefined;
  readonly #indexes: ModuleIndexes | undefined;
  readonly #scratch: Scratch = new Scratch();
  /** Objects stay as they were received, and nothing is wanted of them but the projection. */
  readonly #isPlain: boolean;

  /** @param structureBytesMax what one structure may take in a record */
  constructor(spec: ShardSpec, modules: LoadedModules, structureBytesMax: number) {
    this.#dropped = spec.drop.length > 0 ? pathTrie(spec.drop) : undefined;
    this.#transform = modules.transform && new ModuleTransform(modules.transform);
    this.#projection = new ProjectionWriter(spec.fields);
    this.#encoder = spec.codec === 'msgpack' ? new MsgpackEncoder(structureBytesMax) : undefined;
    this.#indexes = modules.indexes.length > 0 ? new ModuleIndexes(modules.indexes) : undefined;
    this.#isPlain = !this.#dropped && !this.#transform && !this.#encoder && !this.#indexes;
  }

  /** Where what `run` made of the last object was decided, see `ProjectionWriter.headEnd`; -1 when all of it counts. */
  get headEnd(): number {
    return this.#isPlain ? this.#projection.headEnd : -1;
  }

  /** Appends the projection to `text`, whose end must not pass `textBytesMax`. */
  run(object: StagedObject, text: Scratch, textBytesMax: number): void {
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
    // Stored as received, so also with what was dropped.
    useReceived(object, bytes, start, end);
    object.flags |= result === 'failed' ? NotificationFlag.TransformFailed : NotificationFlag.Malformed;
  }

  /** False when the object is malformed. */
  #drop(object: StagedObject, paths: PathNode): boolean {
    const { bytes, start, end } = object;
    const scratch = this.#scratch;
    scratch.reset();
    scratch.reserve(end - start);
    scratch.end = dropPaths(bytes, start, end, paths, scratch.bytes, 0);
    if (scratch.end === DROP_MALFORMED) return false;
    // Without any of the paths the object may stay where it is.
    if (scratch.end === end - start) return true;
    object.bytes = scratch.bytes;
    object.start = 0;
    object.end = scratch.end;
    object.isInline = true;
    return true;
  }

  /** The stages that need the object itself. False when its bytes are not JSON. */
  #useParsed(object: StagedObject, text: Scratch, textBytesMax: number): boolean {
    const json = object.bytes.toString('utf8', object.start, object.end);
    const parsed = parseObject(json);
    if (parsed === undefined) return false;
    // First the codec: index functions are users' and could change what they get.
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
