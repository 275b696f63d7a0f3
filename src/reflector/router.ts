/**
 * Gives sequence numbers to what the reflectors read and routes it: the object's bytes into the log, a delta
 * into the ring of the key's shard, control records into all rings. It never waits: if a ring is full, it writes
 * no byte and returns false, and the caller offers the record again (see exchange.ts).
 *
 * `commit` makes records visible: first all tails, then the `committed` word, then the bells.
 */
import { KubeloomError, assert } from '../base/errors.ts';
import { KeySpans, scanKey } from '../kube/json/key-spans.ts';
import { decodeStringContent } from '../kube/json/read.ts';
import { bytesEqual, openObject } from '../kube/json/skip.ts';
import { LOG_FULL, copyBytes } from '../shared/log/log.ts';
import type { LogWriter } from '../shared/log/log.ts';
import {
  DeltaFlag,
  DeltaKind,
  OBJECT_DELTA_BYTES,
  RECORD_TYPE_CONTROL,
  ObjectLocation,
  isSampled,
  writeControl,
  writeObjectDelta,
} from '../shared/record/delta.ts';
import { KeyHash } from '../shared/record/key-hash.ts';
import type { HashKey, KeyPart } from '../shared/record/key-hash.ts';
import type { Bell } from '../shared/ring/bell.ts';
import type { RingProducer } from '../shared/ring/ring.ts';
import type { Word } from '../shared/ring/word.ts';
import type { StampWriter } from '../shared/stamps.ts';

export interface RouterOptions {
  /** One ring per shard, at least one. */
  readonly rings: readonly RingProducer[];
  /** The shards' bells, in the order of the rings. */
  readonly bells: readonly Bell[];
  /** The last sequence that was used; the next record follows it (tests begin near the wrap). */
  readonly committed: Word;
  readonly log: LogWriter;
  readonly hashKey: HashKey;
  readonly stamps: StampWriter;
}

/** The values that all objects of an informer share. */
export interface ObjectTarget {
  readonly informer: number;
  /** The size above which only an object's identity is kept. */
  readonly objectBytesMax: number;
  readonly kind: string;
  readonly apiVersion: string;
  /** The result of `typeMetaOf`. */
  readonly typeMeta: Buffer;
}

const KIND = Buffer.from('"kind"');
const API_VERSION = Buffer.from('"apiVersion"');
const NOTHING = Buffer.alloc(0);
/** The fixed words of a control record, before the text. */
const CONTROL_FIXED_BYTES = 16;

/**
 * Returns the members that Go omits from the items of a list, as bytes to insert behind the opening brace.
 */
export function typeMetaOf(kind: string, apiVersion: string): Buffer {
  if (kind === '') return NOTHING;
  return Buffer.from(`"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`);
}

export class Router {
  readonly #rings: readonly RingProducer[];
  readonly #bells: readonly Bell[];
  readonly #committed: Word;
  readonly #log: LogWriter;
  readonly #hash: KeyHash;
  readonly #stamps: StampWriter;
  /** True when a sampled event waits for the commit. */
  #hasStamps = false;
  /** Time at which the bytes of the objects to come were read. */
  readMs = 0;
  #sequence: number;
  /** Memory that had no room for the last record that was refused. */
  refusedBy: 'log' | 'ring' = 'ring';
  // Reused for every object, so that no object allocates.
  readonly #location = new ObjectLocation();
  readonly #namespace: KeyPart = { bytes: NOTHING, start: 0, end: 0 };
  readonly #name: KeyPart = { bytes: NOTHING, start: 0, end: 0 };
  readonly #hasPublished: boolean[];

  constructor(options: RouterOptions) {
    assert(options.rings.length > 0 && options.rings.length === options.bells.length, 'one bell per ring');
    this.#rings = options.rings;
    this.#bells = options.bells;
    this.#committed = options.committed;
    this.#log = options.log;
    this.#hash = new KeyHash(options.hashKey);
    this.#stamps = options.stamps;
    this.#sequence = options.committed.load();
    this.#hasPublished = options.rings.map(() => false);
  }

  /** Bytes of the log that readers still need. */
  get logUsedBytes(): number {
    return this.#log.unreadBytes;
  }

  /** Limit of the text of a control record. */
  get controlTextBytesMax(): number {
    return Math.min(...this.#rings.map(({ payloadBytesMax }) => payloadBytesMax)) - CONTROL_FIXED_BYTES;
  }

  /** The last sequence that was given out. */
  get sequence(): number {
    return this.#sequence;
  }

  /**
   * @param start where the object begins in `source`, which must not change during the call
   * @param spans the object's identity, as `scanKey` found it; the name is present
   * @returns false when ring or log are full; the call wrote no byte and used no sequence
   */
  offerObject(
    target: ObjectTarget,
    kind: DeltaKind,
    source: Buffer,
    start: number,
    end: number,
    spans: KeySpans,
  ): boolean {
    if (end - start > target.objectBytesMax) return this.offerIdentity(target, kind, source, spans);
    return this.#write(target, kind, 0, source, start, end, spans);
  }

  /**
   * Offers an object that is too large to keep: writes its identity, flagged TooLarge. Otherwise like
   * `offerObject`.
   */
  offerIdentity(target: ObjectTarget, kind: DeltaKind, source: Buffer, spans: KeySpans): boolean {
    const identity = identityOf(target, source, spans);
    const identitySpans = new KeySpans();
    const isFound = scanKey(identity, 0, identity.length, identitySpans);
    assert(isFound, 'an identity has a name');
    return this.#write(target, kind, DeltaFlag.TooLarge, identity, 0, identity.length, identitySpans);
  }

  /**
   * Writes a control record with one sequence to all rings. @returns false, without a write, when a
   * ring is full
   */
  offerControl(kind: DeltaKind, informer: number, epoch: number, resourceVersion: string): boolean {
    const bytes = CONTROL_FIXED_BYTES + Buffer.byteLength(resourceVersion);
    for (const ring of this.#rings) {
      if (!ring.canClaim(bytes)) return this.#refuse('ring');
    }
    const record = { sequence: this.#nextSequence(), informer, kind, epoch, resourceVersion };
    for (const ring of this.#rings) {
      assert(writeControl(ring, RECORD_TYPE_CONTROL, record), 'a ring has the room that it promised');
    }
    return true;
  }

  /** Makes all accepted records visible. @returns false when there were none */
  commit(): boolean {
    let isAny = false;
    for (const [shard, ring] of this.#rings.entries()) {
      const isNew = ring.publish();
      this.#hasPublished[shard] = isNew;
      isAny ||= isNew;
    }
    if (!isAny) return false;
    if (this.#hasStamps) {
      this.#stamps.commit();
      this.#hasStamps = false;
    }
    this.#committed.store(this.#sequence);
    for (const [shard, bell] of this.#bells.entries()) {
      if (this.#hasPublished[shard]) bell.ring();
    }
    return true;
  }

  #refuse(by: 'log' | 'ring'): false {
    this.refusedBy = by;
    return false;
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) >>> 0;
    return this.#sequence;
  }

  #write(
    target: ObjectTarget,
    kind: DeltaKind,
    flags: number,
    source: Buffer,
    start: number,
    end: number,
    spans: KeySpans,
  ): boolean {
    const { nameStart, nameEnd, nameEscaped, namespaceStart, namespaceEnd, namespaceEscaped } = spans;
    const decodedName = readPart(this.#name, source, nameStart, nameEnd, nameEscaped);
    const decodedNamespace = readPart(
      this.#namespace,
      source,
      namespaceStart,
      namespaceEnd,
      namespaceEscaped,
    );
    const hash = this.#hash.of(this.#namespace, this.#name);
    const ring = this.#rings[(hash >>> 0) % this.#rings.length];
    assert(ring !== undefined, 'a hash has a shard');
    if (!ring.canClaim(OBJECT_DELTA_BYTES)) return this.#refuse('ring');

    const firstKey = openObject(source, start, end);
    const typeMeta = hasTypeMeta(source, firstKey) ? NOTHING : target.typeMeta;
    // With type members in front, the body begins behind the object's own brace.
    const bodyStart = typeMeta.length > 0 ? firstKey : start;
    const head = typeMeta.length > 0 ? 1 + typeMeta.length : 0;
    const length = head + end - bodyStart;
    const behind = decodedName.length + decodedNamespace.length;
    if (length + behind > this.#log.bytes.length) {
      assert(flags === 0, 'an identity fits into the log');
      return this.offerIdentity(target, kind, source, spans);
    }
    const offset = this.#log.reserve(length + behind);
    if (offset === LOG_FULL) return this.#refuse('log');
    this.#copy(offset, typeMeta, source, bodyStart, end);
    decodedName.copy(this.#log.bytes, offset + length);
    decodedNamespace.copy(this.#log.bytes, offset + length + decodedName.length);

    const location = this.#location;
    location.sequence = this.#nextSequence();
    location.informer = target.informer;
    location.kind = kind;
    location.flags = spans.isStandardOrder ? flags | DeltaFlag.StandardOrder : flags;
    location.hash = hash;
    location.offset = offset;
    location.length = length;
    this.#locate(spans, head - bodyStart, length, decodedName.length);
    // Only changes are timed as far as the handlers: a list reaches them as one difference.
    if (isSampled(location.sequence) && kind !== DeltaKind.Replaced) {
      this.#stamps.add(location.sequence, this.readMs);
      this.#hasStamps = true;
    }
    this.#log.seal(location.sequence, length + behind);
    assert(writeObjectDelta(ring, location), 'the ring has the room that it promised');
    return true;
  }

  #copy(offset: number, typeMeta: Buffer, source: Buffer, bodyStart: number, end: number): void {
    const log = this.#log.bytes;
    let to = offset;
    if (typeMeta.length > 0) {
      log[to] = OPEN_BRACE;
      to += 1 + typeMeta.copy(log, to + 1);
    }
    copyBytes(source, bodyStart, end, log, to);
  }

  /** @param shift the difference between an index in the source and the index in the copy */
  #locate(spans: KeySpans, shift: number, length: number, decodedNameLength: number): void {
    const location = this.#location;
    location.nameOffset = spans.nameEscaped ? length : spans.nameStart + shift;
    location.nameLength = this.#name.end - this.#name.start;
    location.namespaceLength = this.#namespace.end - this.#namespace.start;
    const behindName = length + decodedNameLength;
    const inCopy = spans.namespaceEscaped ? behindName : spans.namespaceStart + shift;
    location.namespaceOffset = location.namespaceLength > 0 ? inCopy : 0;
    location.uidLength = spans.uidStart < 0 ? 0 : spans.uidEnd - spans.uidStart;
    location.uidOffset = location.uidLength > 0 ? spans.uidStart + shift : 0;
    location.resourceVersionLength =
      spans.resourceVersionStart < 0 ? 0 : spans.resourceVersionEnd - spans.resourceVersionStart;
    location.resourceVersionOffset =
      location.resourceVersionLength > 0 ? spans.resourceVersionStart + shift : 0;
  }
}

const OPEN_BRACE = 0x7b;

/**
 * Returns whether the object contains kind and apiVersion; the first key decides. Typed objects contain both
 * or, in lists, neither, and Go writes them first. Custom resources always have both, sorted. If a server
 * put them elsewhere, the copy would contain them twice with equal values, which JSON parsers accept.
 */
function hasTypeMeta(bytes: Buffer, firstKey: number): boolean {
  return bytesEqual(bytes, firstKey, KIND) || bytesEqual(bytes, firstKey, API_VERSION);
}

/** Points `part` at the plain text of a string. @returns a decoded copy when the JSON contains escapes */
function readPart(part: KeyPart, source: Buffer, start: number, end: number, isEscaped: boolean): Buffer {
  if (!isEscaped) {
    part.bytes = source;
    part.start = Math.max(start, 0);
    part.end = Math.max(end, 0);
    return NOTHING;
  }
  const text = decodeStringContent(source, start, end);
  if (text === undefined) throw new KubeloomError('ERR_KUBELOOM_ASSERTION', 'names are checked before');
  const bytes = Buffer.from(text);
  part.bytes = bytes;
  part.start = 0;
  part.end = bytes.length;
  return bytes;
}

/** Returns the smallest object with the same identity, which replaces an object that is too large. */
function identityOf(target: ObjectTarget, source: Buffer, spans: KeySpans): Buffer {
  const text = (start: number, end: number): string | undefined =>
    start < 0 ? undefined : decodeStringContent(source, start, end);
  return Buffer.from(
    JSON.stringify({
      // The unknown kind is '', which must be absent here.
      kind: target.kind || undefined,
      apiVersion: target.apiVersion,
      metadata: {
        name: text(spans.nameStart, spans.nameEnd),
        namespace: text(spans.namespaceStart, spans.namespaceEnd),
        uid: text(spans.uidStart, spans.uidEnd),
        resourceVersion: text(spans.resourceVersionStart, spans.resourceVersionEnd),
      },
    }),
  );
}
