/**
 * The step between an object of a list or watch and the router: finds the object's identity, and rejects an
 * object that does not belong to this informer. Allocates nothing for an ordinary object.
 */
import { isUtf8 } from 'node:buffer';
import { toUSVString } from 'node:util';
import type { ErrorCode } from '../base/error-codes/error-table.ts';
import { KubeloomError } from '../base/errors.ts';
import { identityText } from '../base/quotable.ts';
import { KeySpans, scanKey, scanMetadata } from '../kube/json/key-spans.ts';
import { decodeStringContent, decodeStringToken, findPath } from '../kube/json/read.ts';
import { bytesEqual, validValueEnd } from '../kube/json/skip.ts';
import { DeltaKind } from '../shared/record/delta.ts';
import { NAME_BYTES_MAX } from '../shared/record/limits.ts';
import type { ReflectorSpec } from '../shared/protocol.ts';
import type { ListHead } from '../http/list-skeleton.ts';
import type { LineEvidence } from '../http/watch-frames.ts';
import { typeMetaOf } from './router.ts';
import type { ObjectTarget, Router } from './router.ts';
import type { ManagedFieldsProbe } from './managed-fields-probe.ts';
import type { ShardFilterGuard } from './shard-filter-guard.ts';

/**
 * `written`: it is in the rings, or belongs to another shard and is left out. `skipped`: it was reported and must not be offered again. `malformed`: it is no JSON object, so the start
 * of the next object is unknown.
 */
export type Written = 'written' | 'no-room' | 'skipped' | 'malformed';

type NameFault = 'malformed' | 'ambiguous';

/**
 * Bytes of a large object that are searched for its identity despite the limit: names may follow long
 * annotations.
 */
const IDENTITY_BYTES_MIN = 2 ** 20;
/** Allowance for the event around an object. */
const ENVELOPE_BYTES = 1024;

const UNTYPED = Buffer.from('{"metadata":');
/** The suffix of a list's kind: a `PodList` holds items of kind `Pod`. */
const LIST_SUFFIX = 'List';
const EXCERPT_MEMBERS = ['type', 'kind', 'metadata.name', 'object.kind', 'object.metadata.name'];

/** Those that look at every object: they judge what the server makes of a request. */
export interface ObjectObservers {
  readonly shardFilter?: ShardFilterGuard | undefined;
  readonly managedFields?: ManagedFieldsProbe | undefined;
}

export class ObjectWriter {
  /** The positions in the object that was written last. */
  readonly spans: KeySpans = new KeySpans();
  /** The filter of an informer with a shard selector. */
  readonly shardFilter: ShardFilterGuard | undefined;
  /** The probe of an informer that drops managedFields. */
  readonly managedFields: ManagedFieldsProbe | undefined;
  readonly lines: LineEvidence = {};
  readonly #router: Router;
  #target: ObjectTarget;
  readonly #report: (error: KubeloomError) => void;
  /** The usual first bytes of objects of this kind, up to the value of metadata: typed and custom. */
  readonly #beginnings: readonly Buffer[];

  constructor(
    router: Router,
    informer: number,
    spec: ReflectorSpec,
    report: (error: KubeloomError) => void,
    { shardFilter, managedFields }: ObjectObservers = {},
  ) {
    const { kind, apiVersion, objectBytesMax } = spec;
    this.#router = router;
    this.#target = { informer, objectBytesMax, kind, apiVersion, typeMeta: typeMetaOf(kind, apiVersion) };
    this.#report = report;
    this.shardFilter = shardFilter;
    this.managedFields = managedFields;
    const kindMember = `"kind":${JSON.stringify(kind)}`;
    const versionMember = `"apiVersion":${JSON.stringify(apiVersion)}`;
    const beginnings = [`{${kindMember},${versionMember},`, `{${versionMember},${kindMember},`];
    this.#beginnings = beginnings.map((text) => Buffer.from(`${text}"metadata":`));
  }

  /** Takes kind and apiVersion from the list when the informer's kind is unknown: the items omit them. */
  learn({ kind: listKind = '', apiVersion = '' }: ListHead): void {
    const kind = listKind.endsWith(LIST_SUFFIX) ? listKind.slice(0, -LIST_SUFFIX.length) : '';
    if (this.#target.kind === '') this.#target = { ...this.#target, typeMeta: typeMetaOf(kind, apiVersion) };
  }

  write(kind: DeltaKind, bytes: Buffer, start: number, end: number): Written {
    const spans = this.spans;
    const metadata = this.#findMetadata(kind, bytes, start, end);
    if (metadata >= 0) {
      if (!scanMetadata(bytes, metadata, end, spans)) return this.#refuseNameless(bytes, start, end);
    } else {
      if (!scanKey(bytes, start, end, spans)) return this.#refuseNameless(bytes, start, end);
      if (!this.#isOurs(bytes, start, end)) return this.#refuseStranger(bytes, start, end);
    }
    if (spans.hasOtherType) return this.#refuseType(bytes, start, end);
    if (!hasSaneLengths(spans)) return this.#refuseStranger(bytes, start, end);
    if (spans.resourceVersionStart < 0) return this.#refuseUnversioned(bytes, start, end);
    const fault = faultOf(bytes, spans);
    if (fault === 'malformed') return 'malformed';
    if (fault === 'ambiguous') return this.#refuseName(bytes, start, end);
    this.managedFields?.object(bytes, start, end);
    if (this.shardFilter?.admits(bytes, spans) === false) return 'written';
    return this.#router.offerObject(this.#target, kind, bytes, start, end, spans) ? 'written' : 'no-room';
  }

  /** Writes the identity of an object from the beginning of the object, if the beginning contains it. */
  writeOversized(kind: DeltaKind, bytes: Buffer, start: number, end: number): Written {
    const spans = this.spans;
    if (!scanKey(bytes, start, end, spans)) {
      return this.#skip(
        'ERR_KUBELOOM_OBJECT_TOO_LARGE',
        `an object above the limit has no name in its first ${end - start} bytes and was skipped; raise ` +
          'objectBytesMax above its size',
        excerpt(bytes, start, end),
      );
    }
    const fault = faultOf(bytes, spans);
    if (
      !this.#isOurs(bytes, start, end) ||
      !hasSaneLengths(spans) ||
      spans.hasOtherType ||
      fault === 'malformed'
    ) {
      return this.#refuseStranger(bytes, start, end);
    }
    if (fault === 'ambiguous') return this.#refuseName(bytes, start, end);
    const versionBytes = spans.resourceVersionEnd - spans.resourceVersionStart;
    if (versionBytes > this.#target.objectBytesMax) {
      return this.#skip(
        'ERR_KUBELOOM_OBJECT_TOO_LARGE',
        `the resourceVersion of an object has ${versionBytes} bytes, more than objectBytesMax, and the object was ` +
          'skipped; raise objectBytesMax above the size of the object',
        excerpt(bytes, start, end),
      );
    }
    if (this.shardFilter?.admits(bytes, spans) === false) return 'written';
    return this.#router.offerIdentity(this.#target, kind, bytes, spans) ? 'written' : 'no-room';
  }

  /** Limit of the version of a list or bookmark, in bytes. */
  get versionBytesMax(): number {
    return Math.min(this.#target.objectBytesMax, this.#router.controlTextBytesMax);
  }

  /** Finds the value of metadata in an object with a usual beginning. @returns the index of the value, or -1 */
  #findMetadata(kind: DeltaKind, bytes: Buffer, start: number, end: number): number {
    for (const beginning of this.#beginnings) {
      const metadata = start + beginning.length;
      if (metadata < end && bytesEqual(bytes, start, beginning)) return metadata;
    }
    // Only items of lists lack a kind: another object may have a kind behind metadata.
    return kind === DeltaKind.Replaced && bytesEqual(bytes, start, UNTYPED) ? start + UNTYPED.length : -1;
  }

  /** Compares kind and version with the informer's; an object without them matches. */
  #isOurs(bytes: Buffer, start: number, end: number): boolean {
    const { kind, apiVersion } = this.#target;
    if (kind === '') return true;
    return (
      (textOf(bytes, start, end, 'kind') ?? kind) === kind &&
      (textOf(bytes, start, end, 'apiVersion') ?? apiVersion) === apiVersion
    );
  }

  #refuseNameless(bytes: Buffer, start: number, end: number): Written {
    if (validValueEnd(bytes, start, end) !== end) return 'malformed';
    if (this.spans.hasOtherType) return this.#refuseType(bytes, start, end);
    if (!this.#isOurs(bytes, start, end)) return this.#refuseStranger(bytes, start, end);
    return this.#skip(
      'ERR_KUBELOOM_OBJECT_WITHOUT_NAME',
      'the server sent an object without metadata.name, which was skipped',
      excerpt(bytes, start, end),
    );
  }

  #refuseUnversioned(bytes: Buffer, start: number, end: number): Written {
    const isJson = validValueEnd(bytes, start, end) === end;
    if (!isJson) return 'malformed';
    return this.#skip(
      'ERR_KUBELOOM_NO_RESOURCE_VERSION',
      'the server sent an object without metadata.resourceVersion, which was skipped',
      excerpt(bytes, start, end),
    );
  }

  #refuseStranger(bytes: Buffer, start: number, end: number): Written {
    const { kind, apiVersion } = this.#target;
    const expected = kind === '' ? 'Kubernetes object' : `${kind} (${apiVersion})`;
    return this.#skip(
      'ERR_KUBELOOM_UNEXPECTED_OBJECT',
      `the server sent an object that is not a ${expected} and was skipped`,
      excerpt(bytes, start, end),
    );
  }

  #refuseType(bytes: Buffer, start: number, end: number): Written {
    if (validValueEnd(bytes, start, end) !== end) return 'malformed';
    return this.#skip(
      'ERR_KUBELOOM_UNEXPECTED_OBJECT',
      'the server sent an object whose name, namespace, uid or resourceVersion is no text, which was skipped',
      excerpt(bytes, start, end),
    );
  }

  #refuseName(bytes: Buffer, start: number, end: number): Written {
    return this.#skip(
      'ERR_KUBELOOM_UNEXPECTED_OBJECT',
      'the server sent an object whose name or namespace has a slash or is not valid UTF-8: its key could be ' +
        'that of another object, so it was skipped',
      excerpt(bytes, start, end),
    );
  }

  #skip(code: ErrorCode, message: string, quoted: string): 'skipped' {
    this.#report(new KubeloomError(code, `${message}: ${quoted}`));
    return 'skipped';
  }
}

/** Returns the length up to which a line or an item is assembled. */
export function frameBytesMax(objectBytesMax: number): number {
  return Math.max(objectBytesMax, IDENTITY_BYTES_MIN) + ENVELOPE_BYTES;
}

/** Describes an object or event for an error message, without the content: it may be a Secret. */
export function excerpt(bytes: Buffer, start: number, end: number): string {
  const members = EXCERPT_MEMBERS.map((path) => [path, textOf(bytes, start, end, path)] as const);
  return `${end - start} bytes ${identityText(Object.fromEntries(members))}`.trimEnd();
}

export function textOf(bytes: Buffer, start: number, end: number, member: string): string | undefined {
  const span = findPath(bytes, start, end, member);
  return span && decodeStringToken(bytes, span.start, span.end);
}

function hasSaneLengths(spans: KeySpans): boolean {
  return (
    spans.nameEnd - spans.nameStart <= NAME_BYTES_MAX &&
    spans.namespaceEnd - spans.namespaceStart <= NAME_BYTES_MAX &&
    spans.uidEnd - spans.uidStart <= NAME_BYTES_MAX
  );
}

/**
 * Returns the reason why name and namespace cannot form a key. A key is the string `namespace/name`. A slash
 * in any of them would make it ambiguous. So would invalid UTF-8 or half a surrogate pair: all of these
 * decode to the same U+FFFD.
 */
function faultOf(bytes: Buffer, spans: KeySpans): NameFault | undefined {
  if (spans.hasPlainNames) return undefined;
  return (
    partFaultOf(bytes, spans.nameStart, spans.nameEnd) ??
    partFaultOf(bytes, spans.namespaceStart, spans.namespaceEnd)
  );
}

function partFaultOf(bytes: Buffer, start: number, end: number): NameFault | undefined {
  if (start < 0) return undefined;
  const text = decodeStringContent(bytes, start, end);
  if (text === undefined) return 'malformed';
  const isUnique = isUtf8(bytes.subarray(start, end)) && toUSVString(text) === text && !text.includes('/');
  return isUnique ? undefined : 'ambiguous';
}
