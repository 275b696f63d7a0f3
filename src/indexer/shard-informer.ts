/**
 * An informer in a shard: the keys and ids, and the conversion of the objects. It fills the output for a record; the
 * shard writes the output.
 *
 * Every list begins with no keys, so ids are valid for a list and the changes after it. The main thread has both states
 * and finds what a list lacks. An aborted list leaves no ids: the next record of an object comes in another list.
 */
import { assert } from '../base/errors.ts';
import { decodeStringContent } from '../kube/json/read.ts';
import type { MetadataPrefix } from '../kube/json/extraction.ts';
import type { ShardSpec } from '../shared/protocol.ts';
import { DeltaFlag, DeltaKind } from '../shared/record/delta.ts';
import type { ControlRecord, ObjectLocation } from '../shared/record/delta.ts';
import { encodeStructures } from './msgpack-encoder.ts';
import { NotificationFlag, PrefixKind } from '../shared/record/notification.ts';
import { KeyTable, NO_ID } from './key-table.ts';
import { KeyStates, canonicalDecimal } from './key-states.ts';
import type { HeadSpan } from './key-states.ts';
import { ItemPacker } from './item-packer.ts';
import type { LoadedModules } from './modules.ts';
import type { NotificationWriter } from './notification-writer.ts';
import { ConvertedObject, ObjectConversion, uidFields } from './object-conversion.ts';

/** Characters of a version in a message. */
const QUOTED_VERSION_MAX = 96;

/** Called after tables of this length were dropped. */
export type DroppedMemory = (bytes: number) => void;

export class ShardInformer {
  /** Whether a user's functions receive the objects; they may take any time. */
  readonly hasModules: boolean;
  readonly #log: Buffer;
  readonly #output: NotificationWriter;
  /** Undefined when objects are passed on unchanged. */
  readonly #conversion: ObjectConversion | undefined;
  /** Undefined when the items of lists are not packed. */
  readonly #packer: ItemPacker | undefined;
  #phase: 'listing' | 'watching' | 'aborted' = 'watching';
  #keys: KeyTable = new KeyTable();
  #states: KeyStates = new KeyStates();
  readonly #dropped: DroppedMemory;
  #outOfOrder = 0;
  readonly #object: ConvertedObject = new ConvertedObject();
  readonly #prefix: MetadataPrefix & HeadSpan = {
    start: 0,
    end: 0,
    uidStart: 0,
    uidEnd: 0,
    versionStart: 0,
    versionEnd: 0,
  };

  constructor(
    spec: ShardSpec,
    modules: LoadedModules,
    log: Buffer,
    output: NotificationWriter,
    dropped: DroppedMemory,
  ) {
    this.#dropped = dropped;
    this.#log = log;
    this.#output = output;
    this.hasModules = modules.transform !== undefined || modules.indexes.length > 0;
    this.#conversion = spec.isRaw ? undefined : new ObjectConversion(spec, modules, output);
    if (spec.packBytesMin !== undefined && !spec.isRaw) this.#packer = new ItemPacker(spec.packBytesMin);
  }

  /** Opens the output for an object record; the object's bytes in the log are not read after that. */
  object(delta: ObjectLocation): void {
    const { notification, text } = this.#output;
    assert(this.#phase !== 'aborted', 'an object came after an aborted list');
    this.#output.begin(delta);
    const id = this.#keys.find(this.#log, delta);
    const version = this.#versionOf(delta);
    if (this.#isOld(delta, id, version)) {
      this.#output.openNothing(delta);
      return;
    }
    const object = this.#object;
    object.use(this.#log, delta.offset, delta.offset + delta.length, false);
    object.flags = delta.flags & DeltaFlag.TooLarge ? NotificationFlag.TooLarge : 0;
    object.structures = undefined;
    object.prefix = delta.flags & DeltaFlag.StandardOrder ? this.#readMetadataPrefix(delta) : undefined;
    this.#identify(delta, id, version);
    const fieldsStart = text.length;
    notification.hasSameFields = this.#isHeadSame(delta, id);
    if (!notification.hasSameFields) {
      this.#conversion?.run(object);
      this.#keepFingerprint(delta);
    }
    if (object.flags & NotificationFlag.Malformed && text.length === fieldsStart) this.#appendUid(delta);
    notification.extractedLength = text.length - fieldsStart;
    notification.logOffset = delta.offset;
    notification.length = object.end - object.start;
    const inline = this.#inlineBytes(delta);
    if (inline) object.flags |= NotificationFlag.Inline;
    notification.flags |= object.flags;
    this.#addPrefixes(delta);
    this.#output.openNotification(inline);
  }

  /** Packs an item of a list. Returns the bytes that go into the record; undefined if the object stays in the log. */
  #inlineBytes(delta: ObjectLocation): Buffer | undefined {
    const { notification } = this.#output;
    const { bytes, start, end, flags, isInline } = this.#object;
    const isItem = this.#phase === 'listing' && delta.kind !== DeltaKind.Deleted;
    const isPackable = isItem && (flags & NotificationFlag.TooLarge) === 0;
    const packed = isPackable ? this.#packer?.pack(bytes, start, end - start) : undefined;
    notification.isSample = packed === 'sample';
    notification.packedLength = 0;
    if (packed === undefined || packed === 'sample') return isInline ? bytes.subarray(start, end) : undefined;
    notification.packedLength = packed.length;
    return packed;
  }

  /** Opens the output for a control record. */
  control(record: ControlRecord): void {
    switch (record.kind) {
      case DeltaKind.ReplaceBegin:
        this.#begin();
        break;
      case DeltaKind.ReplaceEnd:
        this.#phase = 'watching';
        break;
      case DeltaKind.ReplaceAbort:
        this.#phase = 'aborted';
        break;
    }
    this.#output.openControl(record);
  }

  /** Begins a list with no keys. */
  #begin(): void {
    this.#phase = 'listing';
    const { memoryBytes } = this.#keys;
    this.#keys = new KeyTable();
    this.#states = new KeyStates();
    this.#dropped(memoryBytes);
    this.#packer?.beginList();
  }

  /** Compares heads for changes only: there is no fingerprint of a listed object. */
  #isHeadSame(delta: ObjectLocation, id: number): boolean {
    if (delta.kind !== DeltaKind.Modified || id === NO_ID || !this.#object.prefix) return false;
    return this.#states.isHeadSame(id, this.#log, this.#prefix);
  }

  /** Keeps the fingerprint after the conversion, for changes only. */
  #keepFingerprint(delta: ObjectLocation): void {
    const { id } = this.#output.notification;
    const headEnd = this.#conversion?.headEnd ?? -1;
    const object = this.#object;
    const isKept = headEnd >= 0 && object.prefix && object.flags === 0 && object.warnings.length === 0;
    if (isKept && delta.kind === DeltaKind.Modified)
      this.#states.keepHead(id, this.#log, this.#prefix, headEnd);
    else this.#states.dropHead(id);
  }

  /** Returns the object's version: a number below 2^53, or else the version's text. */
  #versionOf({ offset, resourceVersionOffset, resourceVersionLength }: ObjectLocation): number | string {
    const start = offset + resourceVersionOffset;
    const number = canonicalDecimal(this.#log, start, resourceVersionLength);
    if (number >= 0) return number;
    const text = decodeStringContent(this.#log, start, start + resourceVersionLength) ?? '';
    const bytes = Buffer.from(text);
    // An escape may stand for a digit.
    const decoded = canonicalDecimal(bytes, 0, bytes.length);
    return decoded >= 0 ? decoded : text;
  }

  /**
   * Returns whether the event repeats the latest version or is older. Listed objects are always accepted, because a
   * server may be restored from a backup. So is a deletion with the latest version: some servers send a deletion with
   * the version of the last state.
   */
  #isOld(delta: ObjectLocation, id: number, version: number | string): boolean {
    if (id === NO_ID || delta.kind === DeltaKind.Replaced || this.#phase === 'listing') return false;
    const order = this.#states.orderOf(id, version);
    if (order === 'newer' || (order === 'same' && delta.kind === DeltaKind.Deleted)) return false;
    if (order === 'older') this.#warnOfOrder(delta, excerptOf(String(version)));
    return true;
  }

  /** Reports the 1st, 2nd, 4th, 8th … such event. */
  #warnOfOrder(delta: ObjectLocation, version: string): void {
    const count = ++this.#outOfOrder;
    if ((count & (count - 1)) !== 0) return;
    const message = `the server sent version ${version} after a newer version; the event was ignored (${count} so far)`;
    this.#output.addWarning({ code: 'ERR_KUBELOOM_OUT_OF_ORDER', message }, this.#keyText(delta));
  }

  /** Assigns an id to a new key, and writes the texts before the extracted fields. */
  #identify(delta: ObjectLocation, known: number, version: number | string): void {
    const { notification, text } = this.#output;
    const { offset, namespaceLength, nameLength } = delta;
    const isNew = known === NO_ID;
    const id = isNew ? this.#keys.insert(this.#log, delta) : known;
    notification.id = id;
    notification.flags = isNew ? NotificationFlag.NewKey : 0;
    notification.hasSameFields = false;
    notification.namespaceLength = isNew ? namespaceLength : 0;
    notification.nameLength = isNew ? nameLength : 0;
    if (isNew) {
      text.append(this.#log, offset + delta.namespaceOffset, namespaceLength);
      text.append(this.#log, offset + delta.nameOffset, nameLength);
    }
    // The id is free before the record is written, but no other record is read before that.
    if (delta.kind === DeltaKind.Deleted) this.#keys.remove(id);
    else this.#states.put(id, version);
    notification.resourceVersion = typeof version === 'number' ? version : 0;
    notification.resourceVersionTextLength = 0;
    if (typeof version === 'number') return;
    notification.flags |= NotificationFlag.ResourceVersionText;
    const textStart = text.length;
    text.appendText(version);
    notification.resourceVersionTextLength = text.length - textStart;
  }

  /** Writes the extracted fields of an unreadable object: the uid. */
  #appendUid(delta: ObjectLocation): void {
    this.#output.text.appendText(uidFields(this.#log, delta));
  }

  /** Fills in the positions of the prefix. The delta's offsets are inside the quotes. */
  #readMetadataPrefix(delta: ObjectLocation): MetadataPrefix {
    const prefix = this.#prefix;
    const { offset } = delta;
    prefix.start = offset;
    prefix.end = offset + delta.length;
    prefix.uidStart = offset + delta.uidOffset - 1;
    prefix.uidEnd = offset + delta.uidOffset + delta.uidLength + 1;
    prefix.versionStart = offset + delta.resourceVersionOffset - 1;
    prefix.versionEnd = offset + delta.resourceVersionOffset + delta.resourceVersionLength + 1;
    return prefix;
  }

  #addPrefixes(delta: ObjectLocation): void {
    const { structures, warnings } = this.#object;
    const output = this.#output;
    if (structures && structures.structures.length > 0) {
      const records = encodeStructures(structures.first, structures.structures, output.prefixBytesMax);
      for (const bytes of records) output.addPrefix(PrefixKind.Structures, bytes);
    }
    if (warnings.length === 0) return;
    for (const warning of warnings) output.addWarning(warning, this.#keyText(delta));
    warnings.length = 0;
  }

  #keyText(delta: ObjectLocation): string {
    const name = this.#text(delta, delta.nameOffset, delta.nameLength);
    if (delta.namespaceLength === 0) return name;
    return `${this.#text(delta, delta.namespaceOffset, delta.namespaceLength)}/${name}`;
  }

  #text({ offset }: ObjectLocation, from: number, length: number): string {
    return this.#log.toString('utf8', offset + from, offset + from + length);
  }
}

/** Returns a version for a message. An opaque version may be as long as the object. */
function excerptOf(version: string): string {
  return version.length <= QUOTED_VERSION_MAX ? version : `${version.slice(0, QUOTED_VERSION_MAX)}…`;
}
