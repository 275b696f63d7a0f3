/**
 * One informer in one shard: its keys and ids, its relists, and what happens to its objects. Fills the
 * output for one record; the shard writes it.
 */
import { DeltaFlag, DeltaKind } from '../record/delta.ts';
import type { ControlRecord, ObjectLocation } from '../record/delta.ts';
import { encodeStructures } from '../record/msgpack.ts';
import { NotificationFlag, PrefixKind } from '../record/notification.ts';
import type { ShardSpec } from '../threads/protocol.ts';
import { KeyTable, NO_ID } from './key-table.ts';
import type { LoadedModules } from './modules.ts';
import { ObjectStages } from './object-stages.ts';
import type { StagedObject } from './staged-object.ts';
import type { Output } from './output.ts';
import { RelistMarks } from './relist-marks.ts';
import { canonicalDecimal } from './resource-version.ts';
import { encodeWarning } from './warning.ts';

/** Besides its keys, a Structures record says little; a structure longer than the rest stays a map. */
const STRUCTURES_FRAME_BYTES = 64;

export class ShardInformer {
  readonly #log: Buffer;
  readonly #output: Output;
  /** Undefined when objects are passed on untouched. */
  readonly #stages: ObjectStages | undefined;
  readonly #keys: KeyTable = new KeyTable();
  readonly #marks: RelistMarks = new RelistMarks((id) => this.#keys.remove(id));
  readonly #object: StagedObject;

  constructor(spec: ShardSpec, modules: LoadedModules, log: Buffer, output: Output) {
    this.#log = log;
    this.#output = output;
    this.#stages = spec.isRaw
      ? undefined
      : new ObjectStages(spec, modules, output.prefixBytesMax - STRUCTURES_FRAME_BYTES);
    this.#object = {
      bytes: log,
      start: 0,
      end: 0,
      isInline: false,
      flags: 0,
      warnings: [],
      structures: undefined,
    };
  }

  /** Keys known now. */
  get size(): number {
    return this.#keys.size;
  }

  /** Opens the output for an object record; its log bytes are not read after that. */
  object(delta: ObjectLocation): void {
    const { notification, text } = this.#output;
    const object = this.#object;
    object.bytes = this.#log;
    object.start = delta.offset;
    object.end = delta.offset + delta.length;
    object.isInline = false;
    object.flags = delta.flags & DeltaFlag.TooLarge ? NotificationFlag.TooLarge : 0;
    object.structures = undefined;
    notification.sequence = delta.sequence;
    notification.informer = delta.informer;
    notification.kind = delta.kind;
    text.reset();
    this.#identify(delta);
    const projectionStart = text.end;
    this.#stages?.run(object, text, this.#output.textBytesMax);
    notification.projectionLength = text.end - projectionStart;
    notification.logOffset = delta.offset;
    notification.length = object.end - object.start;
    if (object.isInline) object.flags |= NotificationFlag.Inline;
    notification.flags |= object.flags;
    this.#addPrefixes(delta);
    if (object.isInline) this.#output.openNotification(object.bytes.subarray(object.start, object.end));
    else this.#output.openNotification();
  }

  /** Opens the output for a control record: its answer, and before it what a relist swept. */
  control(record: ControlRecord): void {
    switch (record.kind) {
      case DeltaKind.ReplaceBegin:
        this.#marks.begin(record.epoch);
        break;
      case DeltaKind.ReplaceEnd:
        this.#marks.end(record.epoch);
        break;
      case DeltaKind.ReplaceAbort:
        this.#marks.abort(record.epoch);
        break;
    }
    this.#output.openControl(record, this.#marks);
  }

  /** Finds or gives the id, and writes the texts before the projection. */
  #identify(delta: ObjectLocation): void {
    const { notification, text } = this.#output;
    const log = this.#log;
    const namespace = delta.offset + delta.namespaceOffset;
    const name = delta.offset + delta.nameOffset;
    const { hash, namespaceLength, nameLength } = delta;
    notification.flags = 0;
    notification.namespaceLength = 0;
    notification.nameLength = 0;
    let id = this.#keys.find(hash, log, namespace, namespaceLength, name, nameLength);
    if (id === NO_ID) {
      id = this.#keys.insert(hash, log, namespace, namespaceLength, name, nameLength);
      notification.flags = NotificationFlag.NewKey;
      notification.namespaceLength = namespaceLength;
      notification.nameLength = nameLength;
      text.append(log, namespace, namespaceLength);
      text.append(log, name, nameLength);
    }
    notification.id = id;
    // Freed before the record is written, but no other record is read before that.
    if (delta.kind !== DeltaKind.Deleted) this.#marks.mark(id);
    else if (this.#marks.unmark(id)) this.#keys.remove(id);
    this.#version(delta);
  }

  #version(delta: ObjectLocation): void {
    const { notification, text } = this.#output;
    const start = delta.offset + delta.resourceVersionOffset;
    const length = delta.resourceVersionLength;
    const number = canonicalDecimal(this.#log, start, length);
    notification.resourceVersion = Math.max(number, 0);
    notification.resourceVersionTextLength = number < 0 ? length : 0;
    if (number >= 0) return;
    notification.flags |= NotificationFlag.ResourceVersionText;
    text.append(this.#log, start, length);
  }

  #addPrefixes(delta: ObjectLocation): void {
    const { structures, warnings } = this.#object;
    const output = this.#output;
    if (structures && structures.structures.length > 0) {
      const records = encodeStructures(structures.first, structures.structures, output.prefixBytesMax);
      for (const bytes of records) output.addPrefix(PrefixKind.Structures, bytes);
    }
    if (warnings.length === 0) return;
    const key = this.#keyText(delta);
    for (const warning of warnings) {
      output.addPrefix(PrefixKind.Warning, encodeWarning(warning, key, output.prefixBytesMax));
    }
    warnings.length = 0;
  }

  #keyText(delta: ObjectLocation): string {
    const name = this.#text(delta.offset + delta.nameOffset, delta.nameLength);
    if (delta.namespaceLength === 0) return name;
    return `${this.#text(delta.offset + delta.namespaceOffset, delta.namespaceLength)}/${name}`;
  }

  #text(start: number, length: number): string {
    return this.#log.toString('utf8', start, start + length);
  }
}
