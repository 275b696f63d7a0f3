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
import { Entry, EntryFlag } from '../store/entry.ts';
import type { Identity } from '../store/entry.ts';
import { Projection } from '../store/projection.ts';
import type { Replica } from '../store/replica.ts';
import type { Slot } from '../store/replica-state.ts';
import type { MainTransform } from './main-transform.ts';
import type { ObjectBytes } from './object-bytes.ts';

export interface InformerMergeOptions {
  readonly replica: Replica;
  readonly owner: EntryOwner;
  readonly transform: MainTransform | undefined;
  readonly onError: (error: KubeloomError, key: string) => void;
  readonly onControl: (record: ControlRecord) => void;
}

export class InformerMerge {
  readonly #options: InformerMergeOptions;

  constructor(options: InformerMergeOptions) {
    this.#options = options;
  }

  /** `text` is the ring that holds the record, `object` where its bytes are. */
  notification(shard: number, record: Notification, text: Buffer, object: ObjectBytes): void {
    const { replica } = this.#options;
    const slot = this.#slotFor(shard, record, text);
    assert(slot !== undefined || isNewKey(record), `shard ${shard} named an unknown id ${record.id}`);
    const identity = slot?.identity ?? identityOf(record, text);
    const version = versionOf(record, text);
    const projection = this.#projectionOf(record, text, slot);
    if (record.kind === DeltaKind.Replaced && !replica.isShadowed(identity.key)) {
      const live = replica.liveSlot(identity.key);
      if (live?.entry.version === version && this.#isSameObject(live.entry, projection, object)) {
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

  control(record: ControlRecord): void {
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

  #slotFor(shard: number, record: Notification, text: Buffer): Slot | undefined {
    const { replica } = this.#options;
    if (isNewKey(record)) return replica.liveSlot(identityOf(record, text).key);
    return replica.slotOf(shard, record.id);
  }

  /** Two objects of the same key and resourceVersion are one, unless the server's history was replaced. */
  #isSameObject(entry: Entry, projection: Projection, object: ObjectBytes): boolean {
    const { transform } = this.#options;
    // With a plain transform the shard projects nothing, and the entry has the projection of the result.
    return transform ? transform.uidOf(object) === entry.uid : entry.projection.text === projection.text;
  }

  #projectionOf(record: Notification, text: Buffer, slot: Slot | undefined): Projection {
    const start =
      record.textOffset + record.namespaceLength + record.nameLength + record.resourceVersionTextLength;
    const projection = text.toString('latin1', start, start + record.projectionLength);
    const previous = slot?.entry.projection;
    return previous?.text === projection ? previous : new Projection(projection);
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
    let flags = entryFlags(record.flags);
    let result = { bytes: object.bytes, start: object.start, length: object.length, projection };
    if (transform && flags & EntryFlag.TooLarge) {
      result = transform.passOn(object);
    } else if (transform) {
      const transformed = transform.apply(identity, String(version), object);
      result = transformed;
      if (!transformed.isTransformed) flags |= EntryFlag.TransformFailed;
    }
    const decoder = record.flags & NotificationFlag.Msgpack ? this.#decoderOf(shard) : undefined;
    const entry = new Entry(owner, identity, result.projection, version, flags, decoder);
    owner.slabs.put(entry, result.bytes, result.start, result.length);
    return entry;
  }
}

function isNewKey(record: Notification): boolean {
  return (record.flags & NotificationFlag.NewKey) !== 0;
}

function identityOf(record: Notification, text: Buffer): Identity {
  const nameStart = record.textOffset + record.namespaceLength;
  const namespace = text.toString('utf8', record.textOffset, nameStart);
  const name = text.toString('utf8', nameStart, nameStart + record.nameLength);
  return { key: namespace === '' ? name : `${namespace}/${name}`, namespace, name };
}

function versionOf(record: Notification, text: Buffer): number | string {
  if (!(record.flags & NotificationFlag.ResourceVersionText)) return record.resourceVersion;
  const start = record.textOffset + record.namespaceLength + record.nameLength;
  return text.toString('latin1', start, start + record.resourceVersionTextLength);
}

function entryFlags(flags: number): number {
  return (
    (flags & NotificationFlag.TooLarge ? EntryFlag.TooLarge : 0) |
    (flags & NotificationFlag.TransformFailed ? EntryFlag.TransformFailed : 0) |
    (flags & NotificationFlag.Malformed ? EntryFlag.Malformed : 0)
  );
}
