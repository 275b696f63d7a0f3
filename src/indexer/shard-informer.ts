/**
 * One informer in one shard: its keys and ids, its relists, and what happens to its objects. Fills the
 * output for one record; the shard writes it.
 */
import type { GoHead } from '../json/projection.ts';
import { DeltaFlag, DeltaKind } from '../record/delta.ts';
import type { ControlRecord, ObjectLocation } from '../record/delta.ts';
import { encodeStructures } from '../record/msgpack.ts';
import { NotificationFlag, PrefixKind } from '../record/notification.ts';
import type { KeySeed, ShardSpec } from '../threads/protocol.ts';
import { HeadHashes } from './head-hashes.ts';
import type { HeadSpan } from './head-hashes.ts';
import { KeyTable, NO_ID } from './key-table.ts';
import { KeyVersions } from './key-versions.ts';
import type { LoadedModules } from './modules.ts';
import { ObjectStages } from './object-stages.ts';
import type { StagedObject } from './staged-object.ts';
import type { Output } from './output.ts';
import { RelistMarks } from './relist-marks.ts';
import { canonicalDecimal } from './resource-version.ts';
import { encodeWarning } from './warning.ts';
import type { Warning } from './warning.ts';
import { identityOf, uidProjection } from './identity.ts';

/** Besides its keys, a Structures record says little; a structure longer than the rest stays a map. */
const STRUCTURES_FRAME_BYTES = 64;

/** Of one key, as `KeySeed` has it. */
const SEED_WORDS = 5;

const QUARANTINE: Warning = {
  code: 'ERR_KUBELOOM_QUARANTINED',
  message:
    'two threads ended while they worked on this object, so only its identity is kept, and reading it throws ' +
    'until it changes; look at the modules for transforms and indexes',
};

export class ShardInformer {
  readonly #log: Buffer;
  readonly #output: Output;
  /** Undefined when objects are passed on untouched. */
  readonly #stages: ObjectStages | undefined;
  readonly #keys: KeyTable = new KeyTable();
  readonly #versions: KeyVersions = new KeyVersions();
  /** Of the states that the main thread has, or has on its way. */
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
      goHead: undefined,
      flags: 0,
      warnings: [],
      structures: undefined,
    };
  }

  /** Keys known now. */
  get size(): number {
    return this.#keys.size;
  }

  /** What the predecessor of this shard knew. */
  seed({ words, bytes, versions }: KeySeed, epoch: number | undefined): void {
    let start = 0;
    for (let at = 0, key = 0; at < words.length; at += SEED_WORDS, key++) {
      const [id = 0, hash = 0, namespaceLength = 0, nameLength = 0, states = 0] = words.subarray(at);
      const name = start + namespaceLength;
      this.#keys.restore(id, hash, bytes, start, namespaceLength, name, nameLength);
      this.#marks.restore(id, (states & 1) !== 0, (states & 2) !== 0);
      const version = versions[key] ?? 0;
      if (typeof version === 'number') this.#versions.set(id, version, undefined);
      else this.#versions.set(id, -1, version);
      start = name + nameLength;
    }
    if (epoch === undefined) return;
    this.#marks.restoreEpoch(epoch);
  }

  /** All seeds have come. */
  seeded(): void {
    this.#keys.restored();
    if (this.#marks.isListing) this.#versions.begin();
  }

  /** Opens the output for an object that shards have died of: who it is, and nothing else is looked at. */
  quarantined(delta: ObjectLocation): void {
    const { notification, text } = this.#output;
    notification.sequence = delta.sequence;
    notification.informer = delta.informer;
    notification.kind = delta.kind;
    text.reset();
    this.#identify(delta, this.#find(delta));
    this.#heads.forget(notification.id);
    const { projection, json } = identityOf(this.#log, delta);
    const projectionStart = text.end;
    if (this.#stages) text.appendText(projection);
    notification.projectionLength = text.end - projectionStart;
    notification.logOffset = delta.offset;
    notification.length = json.length;
    notification.flags |= NotificationFlag.Quarantined | NotificationFlag.Inline;
    this.#object.structures = undefined;
    this.#object.warnings.push(QUARANTINE);
    this.#addPrefixes(delta);
    this.#output.openNotification(json);
  }

  /** Opens the output for an object record; its log bytes are not read after that. */
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

  /** Opens the output for a control record: its answer, and before it what a relist swept. */
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

  /** Only changes: what is listed for the first time would be hashed for nothing. */
  #isHeadSame(delta: ObjectLocation, id: number): boolean {
    if (delta.kind !== DeltaKind.Modified || id === NO_ID || !this.#object.goHead) return false;
    return this.#heads.isSame(id, this.#log, this.#goHead);
  }

  /** After the stages. What the main thread does with a deletion depends on whether it lists. */
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
   * What is known already, or was before what is known. A list is believed in all: servers are restored from backups.
   * So is a deletion of the very version that is known: some servers give it that of the last state.
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

  /** At the 1st, 2nd, 4th, 8th … */
  #warnOfOrder(delta: ObjectLocation, version: string): void {
    const count = ++this.#outOfOrder;
    if ((count & (count - 1)) !== 0) return;
    const warning = {
      code: 'ERR_KUBELOOM_OUT_OF_ORDER',
      message: `the server sent version ${version} after a newer one; it was ignored (${count} so far)`,
    };
    const output = this.#output;
    output.addPrefix(PrefixKind.Warning, encodeWarning(warning, this.#keyText(delta), output.prefixBytesMax));
  }

  /** Gives the id if there is none, and writes the texts before the projection. */
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
    // Freed before the record is written, but no other record is read before that.
    if (delta.kind !== DeltaKind.Deleted) this.#marks.mark(id);
    else if (this.#marks.unmark(id)) this.#keys.remove(id);
    this.#version(delta, id);
  }

  /** All that is known of an object that cannot be read. */
  #projectUid(delta: ObjectLocation): void {
    const { text, textBytesMax } = this.#output;
    const start = text.end;
    text.appendText(uidProjection(this.#log, delta));
    if (text.end > textBytesMax) text.end = start;
  }

  /** The delta points between the quotes. */
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
