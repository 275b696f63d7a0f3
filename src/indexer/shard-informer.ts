/**
 * One informer in one shard: its keys and ids, its relists, and the stages of its objects. It fills the output for one
 * record; the shard writes it.
 */
import type { GoHead } from '../kube/json/projection.ts';
import { DeltaFlag, DeltaKind } from '../shared/record/delta.ts';
import type { ControlRecord, ObjectLocation } from '../shared/record/delta.ts';
import { encodeStructures } from '../shared/record/msgpack.ts';
import { NotificationFlag, PrefixKind } from '../shared/record/notification.ts';
import type { KeySeed, ShardSpec } from '../shared/protocol.ts';
import { HeadHashes } from './head-hashes.ts';
import type { HeadSpan } from './head-hashes.ts';
import { KeyTable, NO_ID } from './key-table.ts';
import { KeyVersions } from './key-versions.ts';
import type { LoadedModules } from './modules.ts';
import { ObjectStages } from './object-stages.ts';
import type { StagedObject } from './staged-object.ts';
import type { NotificationWriter } from './notification-writer.ts';
import { RelistMarks } from './relist-marks.ts';
import { canonicalDecimal } from './resource-version.ts';
import { encodeWarning } from './warning.ts';
import type { Warning } from './warning.ts';
import { identityOf, uidProjection } from './identity.ts';

/** Bytes of a Structures record besides its keys. A structure that does not fit stays a map. */
const STRUCTURES_FRAME_BYTES = 64;

/** Words of one key in a `KeySeed`. */
const SEED_WORDS = 4;

const QUARANTINE: Warning = {
  code: 'ERR_KUBELOOM_QUARANTINED',
  message:
    'two threads ended while they worked on this object, so only its identity is kept, and reading it throws until it ' +
    'changes; check the modules of transforms and indexes',
};

export class ShardInformer {
  readonly #log: Buffer;
  readonly #output: NotificationWriter;
  /** Undefined when objects are passed on unchanged. */
  readonly #stages: ObjectStages | undefined;
  readonly #keys: KeyTable = new KeyTable();
  readonly #versions: KeyVersions = new KeyVersions();
  /** Heads of the states that the main thread has or will receive. */
  readonly #heads: HeadHashes = new HeadHashes();
  #outOfOrder = 0;
  readonly #marks: RelistMarks = new RelistMarks((id) => this.#keys.remove(id));
  readonly #object: StagedObject;
  readonly #goHead: GoHead & HeadSpan = {
    start: 0,
    end: 0,
    uidStart: 0,
    uidEnd: 0,
    versionStart: 0,
    versionEnd: 0,
  };

  constructor(spec: ShardSpec, modules: LoadedModules, log: Buffer, output: NotificationWriter) {
    this.#log = log;
    this.#output = output;
    this.hasModules = modules.transform !== undefined || modules.indexes.length > 0;
    this.#stages = spec.isRaw
      ? undefined
      : new ObjectStages(spec, modules, output.prefixBytesMax - STRUCTURES_FRAME_BYTES);
    this.#object = {
      bytes: log,
      start: 0,
      end: 0,
      isInline: false,
      goHead: undefined,
      flags: 0,
      warnings: [],
      structures: undefined,
    };
  }

  /** Whether a user's functions receive its objects; they may take any time. */
  readonly hasModules: boolean;

  /** Number of keys. */
  get size(): number {
    return this.#keys.size;
  }

  /**
   * Takes over keys of this shard's predecessor.
   *
   * @param epoch the open relist's
   */
  seed({ words, bytes, live, listed }: KeySeed, epoch: number | undefined): void {
    if (epoch !== undefined && !this.#marks.isListing) {
      this.#marks.restoreEpoch(epoch);
      this.#versions.begin();
    }
    let start = 0;
    for (let at = 0, key = 0; at < words.length; at += SEED_WORDS, key++) {
      const [id = 0, hash = 0, namespaceLength = 0, nameLength = 0] = words.subarray(at);
      const name = start + namespaceLength;
      this.#keys.restore(id, hash, bytes, start, namespaceLength, name, nameLength);
      this.#marks.restore(id, live[key] !== undefined, listed[key] !== undefined);
      this.#versions.restore(id, live[key], listed[key]);
      start = name + nameLength;
    }
  }

  /** Ends the seeding. */
  seeded(): void {
    this.#keys.restored();
  }

  /** Opens the output for a quarantined object, with its identity only; its bytes are not read. */
  quarantined(delta: ObjectLocation): void {
    const { notification, text } = this.#output;
    notification.sequence = delta.sequence;
    notification.informer = delta.informer;
    notification.kind = delta.kind;
    text.reset();
    this.#identify(delta, this.#find(delta));
    this.#heads.forget(notification.id);
    const json = identityOf(this.#log, delta);
    const projectionStart = text.end;
    if (this.#stages) this.#projectUid(delta);
    notification.projectionLength = text.end - projectionStart;
    notification.logOffset = delta.offset;
    notification.length = json.length;
    notification.flags |= NotificationFlag.Quarantined | NotificationFlag.Inline;
    this.#object.structures = undefined;
    this.#object.warnings.push(QUARANTINE);
    this.#addPrefixes(delta);
    this.#output.openNotification(json);
  }

  /** Opens the output for an object record; its bytes in the log are not read after that. */
  object(delta: ObjectLocation): void {
    const { notification, text } = this.#output;
    notification.sequence = delta.sequence;
    notification.informer = delta.informer;
    notification.kind = delta.kind;
    const id = this.#find(delta);
    if (this.#isOld(delta, id)) {
      this.#output.openNothing(delta.sequence, delta.informer, delta.kind);
      return;
    }
    const object = this.#object;
    object.bytes = this.#log;
    object.start = delta.offset;
    object.end = delta.offset + delta.length;
    object.isInline = false;
    object.flags = delta.flags & DeltaFlag.TooLarge ? NotificationFlag.TooLarge : 0;
    object.structures = undefined;
    object.goHead = delta.flags & DeltaFlag.GoOrder ? this.#readGoHead(delta) : undefined;
    text.reset();
    this.#identify(delta, id);
    const projectionStart = text.end;
    notification.isProjectionSame = this.#isHeadSame(delta, id);
    if (!notification.isProjectionSame) {
      this.#stages?.run(object, text, this.#output.textBytesMax);
      this.#keepHead(delta);
    }
    if (object.flags & NotificationFlag.Malformed && text.end === projectionStart) this.#projectUid(delta);
    notification.projectionLength = text.end - projectionStart;
    notification.logOffset = delta.offset;
    notification.length = object.end - object.start;
    if (object.isInline) object.flags |= NotificationFlag.Inline;
    notification.flags |= object.flags;
    this.#addPrefixes(delta);
    if (object.isInline) this.#output.openNotification(object.bytes.subarray(object.start, object.end));
    else this.#output.openNotification();
  }

  /** Opens the output for a control record: the ids that a relist sweeps, then the answer. */
  control(record: ControlRecord): void {
    switch (record.kind) {
      case DeltaKind.ReplaceBegin:
        this.#marks.begin(record.epoch);
        this.#versions.begin();
        this.#heads.forgetAll();
        break;
      case DeltaKind.ReplaceEnd:
        this.#marks.end(record.epoch);
        this.#versions.end();
        break;
      case DeltaKind.ReplaceAbort:
        this.#marks.abort(record.epoch);
        this.#versions.abort();
        this.#heads.forgetAll();
        break;
    }
    this.#output.openControl(record, this.#marks);
  }

  /** Compares heads for changes only: a listed object has no kept head. */
  #isHeadSame(delta: ObjectLocation, id: number): boolean {
    if (delta.kind !== DeltaKind.Modified || id === NO_ID || !this.#object.goHead) return false;
    return this.#heads.isSame(id, this.#log, this.#goHead);
  }

  /**
   * Keeps the head after the stages, for changes only: whether a deletion removes the key depends on an open relist.
   */
  #keepHead(delta: ObjectLocation): void {
    const { id } = this.#output.notification;
    const headEnd = this.#stages?.headEnd ?? -1;
    const object = this.#object;
    const isKept = headEnd >= 0 && object.goHead && object.flags === 0 && object.warnings.length === 0;
    if (isKept && delta.kind === DeltaKind.Modified) this.#heads.keep(id, this.#log, this.#goHead, headEnd);
    else this.#heads.forget(id);
  }

  #find({ hash, offset, namespaceOffset, namespaceLength, nameOffset, nameLength }: ObjectLocation): number {
    const namespace = offset + namespaceOffset;
    return this.#keys.find(hash, this.#log, namespace, namespaceLength, offset + nameOffset, nameLength);
  }

  /**
   * Returns whether the event repeats the latest version or is older. Listed objects are always accepted, because a
   * server may be restored from a backup. So is a deletion with the latest version: some servers send it with the last
   * state's.
   */
  #isOld(delta: ObjectLocation, id: number): boolean {
    if (id === NO_ID || delta.kind === DeltaKind.Replaced || this.#marks.isListing) return false;
    const start = delta.offset + delta.resourceVersionOffset;
    const number = canonicalDecimal(this.#log, start, delta.resourceVersionLength);
    const text = number < 0 ? this.#text(start, delta.resourceVersionLength) : undefined;
    const order = this.#versions.orderOf(id, number, text);
    if (order === 'newer' || (order === 'same' && delta.kind === DeltaKind.Deleted)) return false;
    if (order === 'older') this.#warnOfOrder(delta, text ?? String(number));
    return true;
  }

  /** Reports the 1st, 2nd, 4th, 8th … such event. */
  #warnOfOrder(delta: ObjectLocation, version: string): void {
    const count = ++this.#outOfOrder;
    if ((count & (count - 1)) !== 0) return;
    const warning = {
      code: 'ERR_KUBELOOM_OUT_OF_ORDER',
      message: `the server sent version ${version} after a newer one; the event was ignored (${count} so far)`,
    };
    const output = this.#output;
    output.addPrefix(PrefixKind.Warning, encodeWarning(warning, this.#keyText(delta), output.prefixBytesMax));
  }

  /** Assigns an id to a new key, and writes the texts before the extracted fields. */
  #identify(delta: ObjectLocation, known: number): void {
    const { notification, text } = this.#output;
    const log = this.#log;
    const namespace = delta.offset + delta.namespaceOffset;
    const name = delta.offset + delta.nameOffset;
    const { hash, namespaceLength, nameLength } = delta;
    notification.flags = 0;
    notification.isProjectionSame = false;
    notification.namespaceLength = 0;
    notification.nameLength = 0;
    let id = known;
    if (id === NO_ID) {
      id = this.#keys.insert(hash, log, namespace, namespaceLength, name, nameLength);
      notification.flags = NotificationFlag.NewKey;
      notification.namespaceLength = namespaceLength;
      notification.nameLength = nameLength;
      text.append(log, namespace, namespaceLength);
      text.append(log, name, nameLength);
    }
    notification.id = id;
    // The id is free before the record is written, but no other record is read before that.
    if (delta.kind !== DeltaKind.Deleted) this.#marks.mark(id);
    else if (this.#marks.unmark(id)) this.#keys.remove(id);
    this.#version(delta, id);
  }

  /**
   * Writes the extracted fields of an unreadable object: its uid. The record has room for it (`RING_BYTES_MIN`), unless
   * JSON needs more bytes than the wire, e.g. for bytes that are not UTF-8. Then no field is written.
   */
  #projectUid(delta: ObjectLocation): void {
    const { text, textBytesMax } = this.#output;
    const start = text.end;
    text.appendText(uidProjection(this.#log, delta));
    if (text.end > textBytesMax) text.end = start;
  }

  /** Fills the head's place. The delta's offsets are inside the quotes. */
  #readGoHead(delta: ObjectLocation): GoHead {
    const head = this.#goHead;
    head.start = delta.offset;
    head.end = delta.offset + delta.length;
    head.uidStart = delta.offset + delta.uidOffset - 1;
    head.uidEnd = delta.offset + delta.uidOffset + delta.uidLength + 1;
    head.versionStart = delta.offset + delta.resourceVersionOffset - 1;
    head.versionEnd = delta.offset + delta.resourceVersionOffset + delta.resourceVersionLength + 1;
    return head;
  }

  #version(delta: ObjectLocation, id: number): void {
    const { notification, text } = this.#output;
    const start = delta.offset + delta.resourceVersionOffset;
    const length = delta.resourceVersionLength;
    const number = canonicalDecimal(this.#log, start, length);
    notification.resourceVersion = Math.max(number, 0);
    notification.resourceVersionTextLength = number < 0 ? length : 0;
    this.#versions.set(id, number, number < 0 ? this.#text(start, length) : undefined);
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
