/**
 * Turns the records of an informer into states of the replica: interprets notifications, and copies the bytes out of
 * log or ring into the store's slabs, once.
 */
import { KubeloomError, assert } from '../../base/errors.ts';
import type { ErrorMessage } from '../../base/errors.ts';
import { parseJson } from '../../base/parse-json.ts';
import { DeltaKind } from '../../shared/record/delta.ts';
import type { ControlRecord } from '../../shared/record/delta.ts';
import type { ResumePosition } from '../../shared/protocol.ts';
import { MsgpackDecoder } from '../../shared/record/msgpack.ts';
import { NotificationFlag, PrefixKind } from '../../shared/record/notification.ts';
import type { Notification, PrefixRecord } from '../../shared/record/notification.ts';
import type { EventLatency } from '../deliver/event-latency.ts';
import { NO_ORDINAL, NO_ROW } from '../store/columns.ts';
import type { EntryOwner } from '../store/entry-owner.ts';
import type { Dictionary } from '../../shared/pack/pack.ts';
import { EntryFlag, UNREADABLE } from '../store/entry.ts';
import type { ObjectBytes } from '../store/entry.ts';
import { ObjectFacts, RecentMap, SharedFields } from '../store/extracted-fields.ts';
import type { Identity } from '../store/extracted-fields.ts';
import { unpackedObject } from '../store/packed-objects.ts';
import type { Replica } from '../store/replica.ts';
import type { MainTransform } from './main-transform.ts';

const SLASH = 0x2f;
/** Initial size: names in Kubernetes contain at most 253 characters, namespaces 63. It grows for longer names. */
const KEY_BYTES = 512;
/** Most clusters have fewer namespaces; with more, some namespaces are stored as two equal strings. */
const NAMESPACES_MIN = 4096;

/** Report of a shard about the object with this key. */
type Warning = ErrorMessage & { readonly key: string };

export interface InformerMergeOptions {
  readonly replica: Replica;
  readonly owner: EntryOwner;
  readonly transform: MainTransform | undefined;
  readonly latency: EventLatency;
  readonly onError: (error: KubeloomError, key: string) => void;
  readonly onControl: (record: ControlRecord) => void;
}

export class InformerMerge {
  readonly latency: EventLatency;
  readonly #options: InformerMergeOptions;
  readonly #identities: IdentityReader = new IdentityReader();
  readonly #sharedFields: SharedFields = new SharedFields();
  /** Number of merged objects and bookmarks: a sign of progress. */
  records = 0;
  /** Number of objects that a shard ignored because their version was not newer than the cache's. */
  ignored = 0;
  #epoch = 0;
  /**
   * True if the list had no particular version. The watch after such a list begins with synthetic ADDED events in no
   * order, so none of their versions is a position to resume from.
   */
  #isPositionless = false;
  #listVersion = '';

  constructor(options: InformerMergeOptions) {
    this.latency = options.latency;
    this.#options = options;
  }

  /**
   * @param text the ring that holds the record
   * @param received the location of the object's bytes
   */
  notification(shard: number, record: Notification, text: Buffer, received: ObjectBytes): void {
    const { replica, owner, transform } = this.#options;
    this.records++;
    if (this.#isPositionless && record.kind !== DeltaKind.Added) this.#isPositionless = false;
    const named = record.flags & NotificationFlag.NewKey ? this.#identities.read(record, text) : undefined;
    const cached = named ? replica.live.get(named.key) : NO_ORDINAL;
    const previousRow = named ? replica.live.rowAt(cached) : replica.rowOf(shard, record.id);
    const previous = previousRow === NO_ROW ? undefined : owner.table.factsOf(previousRow);
    const identity = previous ?? named;
    assert(identity !== undefined, 'a shard named an unknown id', record.id);
    const version = versionOf(record, text);
    let flags = entryFlags(record.flags);
    let object = received;
    if (record.isSample) owner.packed.addSample(shard, received);
    if (transform && !(flags & EntryFlag.TooLarge)) {
      const result = transform.apply(identity, String(version), received);
      if (result) object = result;
      else flags |= EntryFlag.TransformFailed;
    }
    const facts = transform
      ? transform.factsOf(identity, object)
      : this.#factsOf(identity, record, text, previous);
    const decoder = record.flags & NotificationFlag.Msgpack ? this.#decoderOf(shard) : undefined;
    const samples = record.packedLength > 0 ? owner.packed.samplesOf(shard) : undefined;
    const length = samples ? record.length : object.length;
    const state: State = { facts, version, flags, decoder, object, length, samples };
    if (record.kind === DeltaKind.Replaced) {
      const ordinal = named ? cached : replica.live.get(identity.key);
      if (ordinal !== NO_ORDINAL && this.#isUnchanged(replica.live.rowAt(ordinal), state)) {
        replica.keep(shard, record.id, ordinal);
        return;
      }
    }
    const row = owner.table.add(facts, version, flags, decoder);
    owner.table.setLength(row, length);
    if (samples) owner.packed.put(row, samples, object);
    else owner.slabs.put(row, object.bytes, object.start, length);
    if (record.kind === DeltaKind.Deleted) replica.remove(row);
    else {
      replica.upsert(shard, record.id, row);
      if (owner.slabs.liveBytes > owner.packed.looseBytesMax && !samples) owner.packed.packAtOnce(row);
    }
  }

  prefix(shard: number, record: PrefixRecord): void {
    switch (record.kind) {
      case PrefixKind.Structures:
        this.#decoderOf(shard).update(record.bytes);
        break;
      case PrefixKind.Warning: {
        const { code, message, key } = parseJson(record.bytes.toString('utf8')) as Warning;
        this.#options.onError(new KubeloomError(code, `${key}: ${message}`), key);
        break;
      }
    }
  }

  /**
   * Forgets the shards' ids and tables, and a list in progress, after the threads have ended. Returns the position that
   * the next list must have reached.
   */
  restart(isFailure: boolean): ResumePosition {
    const { replica, owner } = this.#options;
    replica.restart(isFailure);
    owner.decoders.clear();
    owner.packed.forgetShards();
    const resourceVersion = this.#isPositionless ? this.#listVersion : replica.live.resourceVersion;
    return { resourceVersion, epoch: this.#epoch };
  }

  /** Returns false while there is more to do for the record: call again. */
  control(record: ControlRecord): boolean {
    if (!this.#options.replica.control(record.kind, record.epoch, record.resourceVersion)) return false;
    if (record.kind === DeltaKind.Bookmark) {
      this.records++;
      this.#isPositionless = false;
    } else if (record.kind === DeltaKind.ReplaceBegin) {
      this.#epoch = record.epoch;
    } else if (record.kind === DeltaKind.ReplaceEnd) {
      this.#listVersion = record.resourceVersion;
      this.#isPositionless = record.resourceVersion === '' || record.resourceVersion === '0';
    }
    this.#options.onControl(record);
    return true;
  }

  /** Returns the shard's decoder. An object that uses no table may come before the first table. */
  #decoderOf(shard: number): MsgpackDecoder {
    const { decoders } = this.#options.owner;
    let decoder = decoders.get(shard);
    if (!decoder) decoders.set(shard, (decoder = new MsgpackDecoder()));
    return decoder;
  }

  /**
   * Returns whether a listed object equals the cached object. The content decides, not the version alone: versions are
   * used again after a restore of etcd, and a new default of a CRD changes objects without changing their version.
   */
  #isUnchanged(live: number, listed: State): boolean {
    const { owner } = this.#options;
    const { table } = owner;
    return (
      table.versionOf(live) === listed.version &&
      (table.flagsOf(live) & UNREADABLE) === (listed.flags & UNREADABLE) &&
      table.factsOf(live).equals(listed.facts) &&
      this.#hasObject(live, listed)
    );
  }

  #hasObject(live: number, { object, samples, length, decoder }: State): boolean {
    const { owner } = this.#options;
    if (!samples) return owner.hasObject(live, object, decoder);
    if (owner.packed.has(live, samples, object) && owner.table.decoderOf(live) === decoder) return true;
    const unpacked = { bytes: unpackedObject(samples, object, length), start: 0, length };
    return owner.hasObject(live, unpacked, decoder);
  }

  #factsOf(
    identity: Identity,
    record: Notification,
    text: Buffer,
    previous: ObjectFacts | undefined,
  ): ObjectFacts {
    if (record.hasSameFields) {
      assert(previous !== undefined, 'a shard named the fields of an unknown object', record.id);
      previous.isShared = true;
      return previous;
    }
    const start =
      record.textOffset + record.namespaceLength + record.nameLength + record.resourceVersionTextLength;
    const array = { start, end: start + record.extractedLength };
    return ObjectFacts.read(identity, text, array, this.#sharedFields, previous);
  }
}

/** A state that is not stored yet. */
interface State {
  readonly facts: ObjectFacts;
  readonly version: number | string;
  readonly flags: number;
  readonly decoder: MsgpackDecoder | undefined;
  readonly object: ObjectBytes;
  /** The object's length, packed or not. */
  readonly length: number;
  /** The samples against which the bytes of `object` are packed; undefined if they are not. */
  readonly samples: Dictionary | undefined;
}

function versionOf(record: Notification, text: Buffer): number | string {
  if (!(record.flags & NotificationFlag.ResourceVersionText)) return record.resourceVersion;
  const start = record.textOffset + record.namespaceLength + record.nameLength;
  return text.toString('utf8', start, start + record.resourceVersionTextLength);
}

function entryFlags(flags: number): number {
  return (
    (flags & NotificationFlag.TooLarge ? EntryFlag.TooLarge : 0) |
    (flags & NotificationFlag.TransformFailed ? EntryFlag.TransformFailed : 0) |
    (flags & NotificationFlag.Malformed ? EntryFlag.Malformed : 0)
  );
}

class KeyIdentity implements Identity {
  readonly key: string;
  readonly namespace: string;

  constructor(key: string, namespace: string) {
    this.key = key;
    this.namespace = namespace;
  }

  get name(): string {
    return this.namespace === '' ? this.key : this.key.slice(this.namespace.length + 1);
  }
}

/**
 * Reads key, namespace and name out of the first record of an object. They are kept as long as the object exists, so
 * they take little memory: a string for the key with the name, and a string shared by all objects of a namespace.
 */
export class IdentityReader {
  #bytes: Buffer = Buffer.alloc(KEY_BYTES);
  #namespace = '';
  /** The latest namespaces, the oldest first. */
  readonly #namespaces: RecentMap<string> = new RecentMap(NAMESPACES_MIN);

  read(
    {
      textOffset,
      namespaceLength,
      nameLength,
    }: Pick<Notification, 'textOffset' | 'namespaceLength' | 'nameLength'>,
    text: Buffer,
  ): Identity {
    if (namespaceLength === 0) {
      return new KeyIdentity(text.toString('utf8', textOffset, textOffset + nameLength), '');
    }
    const length = namespaceLength + 1 + nameLength;
    if (length > this.#bytes.length) this.#bytes = Buffer.alloc(length);
    const bytes = this.#bytes;
    const last = this.#namespace;
    let isLast = last.length === namespaceLength;
    for (let at = 0; at < namespaceLength; at++) {
      const byte = text[textOffset + at] ?? 0;
      bytes[at] = byte;
      // A byte of UTF-8 above 0x7f is not ASCII and never matches the last namespace.
      if (isLast && (byte !== last.charCodeAt(at) || byte > 0x7f)) isLast = false;
    }
    bytes[namespaceLength] = SLASH;
    for (let at = namespaceLength; at < length - 1; at++) bytes[at + 1] = text[textOffset + at] ?? 0;
    const key = bytes.toString('utf8', 0, length);
    if (!isLast) this.#namespace = this.#known(bytes.toString('utf8', 0, namespaceLength));
    return new KeyIdentity(key, this.#namespace);
  }

  #known(namespace: string): string {
    const namespaces = this.#namespaces;
    const known = namespaces.get(namespace);
    if (known !== undefined) return known;
    namespaces.set(namespace, namespace);
    return namespace;
  }
}
