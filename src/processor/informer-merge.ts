/**
 * Turns the records of one informer into entries of its replica: the part of the merge that knows what a
 * notification means. Bytes are copied out of log or ring into the store's slabs here, once.
 */
import { KubeloomError, assert } from '../errors.ts';
import { DeltaKind } from '../record/delta.ts';
import type { ControlRecord } from '../record/delta.ts';
import { MsgpackDecoder } from '../record/msgpack.ts';
import { NotificationFlag, PrefixKind } from '../record/notification.ts';
import type { Notification, PrefixRecord } from '../record/notification.ts';
import type { EntryOwner } from '../store/entry-owner.ts';
import { Entry, EntryFlag, UNREADABLE } from '../store/entry.ts';
import type { Identity } from '../store/entry.ts';
import { SharedFields } from '../store/projected-fields.ts';
import { Projection } from '../store/projection.ts';
import type { Replica, UsedId } from '../store/replica.ts';
import type { Slot } from '../store/replica-state.ts';
import { IdentityReader } from './identity-reader.ts';
import type { MainTransform, TransformedObject } from './main-transform.ts';
import type { ObjectBytes } from './object-bytes.ts';

export interface InformerMergeOptions {
  readonly replica: Replica;
  readonly owner: EntryOwner;
  readonly transform: MainTransform | undefined;
  readonly onError: (error: KubeloomError, key: string) => void;
  readonly onControl: (record: ControlRecord) => void;
}

/** How far an informer has been merged. */
export interface MergedPosition {
  /** '' before the first list. */
  readonly resourceVersion: string;
  readonly epoch: number;
  /** A relist has begun and not ended. */
  readonly isReplacing: boolean;
}

export class InformerMerge {
  readonly #options: InformerMergeOptions;
  readonly #identities: IdentityReader = new IdentityReader();
  readonly #sharedFields: SharedFields = new SharedFields();
  /** Objects and bookmarks so far: signs of life. */
  records = 0;
  /** Of the last relist that began. */
  #epoch = 0;
  /**
   * The list had no particular version, so the watch after it began with made-up ADDED events, in no order: none of
   * their versions is a position.
   */
  #isPositionless = false;
  #listVersion = '';

  constructor(options: InformerMergeOptions) {
    this.#options = options;
  }

  /** `text` is the ring that holds the record, `object` where its bytes are. */
  notification(shard: number, record: Notification, text: Buffer, object: ObjectBytes): void {
    const { replica } = this.#options;
    this.records++;
    if (this.#isPositionless && record.kind !== DeltaKind.Added) this.#isPositionless = false;
    const named = isNewKey(record) ? this.#identities.read(record, text) : undefined;
    const slot = named ? replica.liveSlot(named.key) : replica.slotOf(shard, record.id);
    const identity = slot?.identity ?? named;
    assert(identity !== undefined, 'a shard named an unknown id', record.id);
    const version = versionOf(record, text);
    const projection = this.#projectionOf(record, text, slot);
    if (record.kind === DeltaKind.Replaced && !replica.isShadowed(identity.key)) {
      const live = replica.liveSlot(identity.key);
      if (live?.entry.version === version && this.#isSameObject(live.entry, record, projection, object)) {
        replica.keep(shard, record.id, live);
        return;
      }
    }
    const entry = this.#entryOf(shard, record, identity, projection, version, object);
    if (record.kind === DeltaKind.Deleted) replica.remove(entry);
    else replica.upsert(shard, record.id, entry);
  }

  prefix(shard: number, record: PrefixRecord): void {
    const { replica, onError } = this.#options;
    switch (record.kind) {
      case PrefixKind.Swept:
        replica.swept(shard, record.id);
        break;
      case PrefixKind.Structures: {
        this.#decoderOf(shard).update(record.bytes);
        break;
      }
      case PrefixKind.Warning: {
        const { code, message, key } = JSON.parse(record.bytes.toString('utf8')) as Record<string, string>;
        onError(new KubeloomError(code ?? 'ERR_KUBELOOM_SHARD', `${key}: ${message}`), key ?? '');
        break;
      }
    }
  }

  /** From where the server's history is to be continued by a reflector that knows nothing. */
  get position(): MergedPosition {
    const { replica } = this.#options;
    return {
      resourceVersion: this.#isPositionless ? this.#listVersion : replica.live.resourceVersion,
      epoch: this.#epoch,
      isReplacing: replica.epoch !== undefined,
    };
  }

  /** The ids of a shard that has ended, for its successor, which makes msgpack tables of its own. */
  succeed(shard: number): { readonly epoch: number | undefined; readonly ids: Iterable<UsedId> } {
    const { replica, owner } = this.#options;
    owner.decoders.delete(shard);
    return { epoch: replica.epoch, ids: replica.idsOf(shard) };
  }

  control(record: ControlRecord): void {
    if (record.kind === DeltaKind.Bookmark) {
      this.records++;
      this.#isPositionless = false;
    } else if (record.kind === DeltaKind.ReplaceBegin) {
      this.#epoch = record.epoch;
    } else if (record.kind === DeltaKind.ReplaceEnd) {
      this.#listVersion = record.resourceVersion;
      this.#isPositionless = record.resourceVersion === '' || record.resourceVersion === '0';
    }
    this.#options.replica.control(record.kind, record.epoch, record.resourceVersion);
    this.#options.onControl(record);
  }

  /** An object without records comes before any table. */
  #decoderOf(shard: number): MsgpackDecoder {
    const { decoders } = this.#options.owner;
    let decoder = decoders.get(shard);
    if (!decoder) decoders.set(shard, (decoder = new MsgpackDecoder()));
    return decoder;
  }

  /**
   * Two objects of the same key and resourceVersion are one, unless the server's history was replaced, or what could
   * not be read of one can be read now.
   */
  #isSameObject(entry: Entry, record: Notification, projection: Projection, object: ObjectBytes): boolean {
    const { transform } = this.#options;
    if ((entry.flags & UNREADABLE) !== (entryFlags(record.flags) & UNREADABLE)) return false;
    // With a plain transform the shard projects nothing, and the entry has the projection of the result.
    return transform ? transform.uidOf(object) === entry.uid : entry.projection.equals(projection);
  }

  #projectionOf(record: Notification, text: Buffer, slot: Slot | undefined): Projection {
    const previous = slot?.entry.projection;
    if (record.isProjectionSame) {
      assert(previous !== undefined, 'a shard named the projection of an unknown object', record.id);
      previous.isShared = true;
      return previous;
    }
    const start =
      record.textOffset + record.namespaceLength + record.nameLength + record.resourceVersionTextLength;
    return Projection.read(text, start, start + record.projectionLength, this.#sharedFields, previous);
  }

  #entryOf(
    shard: number,
    record: Notification,
    identity: Identity,
    projection: Projection,
    version: number | string,
    object: ObjectBytes,
  ): Entry {
    const { owner, transform } = this.#options;
    const decoder = record.flags & NotificationFlag.Msgpack ? this.#decoderOf(shard) : undefined;
    let flags = entryFlags(record.flags);
    if (!transform) {
      const entry = new Entry(owner, identity, projection, version, flags, decoder);
      owner.put(entry, object.bytes, object.start, object.length);
      return entry;
    }
    let result: TransformedObject;
    if (flags & (EntryFlag.TooLarge | EntryFlag.Quarantined)) {
      result = transform.passOn(object);
    } else {
      const transformed = transform.apply(identity, String(version), object);
      result = transformed;
      if (!transformed.isTransformed) flags |= EntryFlag.TransformFailed;
    }
    const entry = new Entry(owner, identity, result.projection, version, flags, decoder);
    owner.put(entry, result.bytes, result.start, result.length);
    return entry;
  }
}

function isNewKey(record: Notification): boolean {
  return (record.flags & NotificationFlag.NewKey) !== 0;
}

function versionOf(record: Notification, text: Buffer): number | string {
  if (!(record.flags & NotificationFlag.ResourceVersionText)) return record.resourceVersion;
  const start = record.textOffset + record.namespaceLength + record.nameLength;
  return text.toString('latin1', start, start + record.resourceVersionTextLength);
}

function entryFlags(flags: number): number {
  if ((flags & NotificationFlag.Quarantined) === NotificationFlag.Quarantined) return EntryFlag.Quarantined;
  return (
    (flags & NotificationFlag.TooLarge ? EntryFlag.TooLarge : 0) |
    (flags & NotificationFlag.TransformFailed ? EntryFlag.TransformFailed : 0) |
    (flags & NotificationFlag.Malformed ? EntryFlag.Malformed : 0)
  );
}
