/**
 * One object of a list or watch on its way to the router: finds out who it is, and refuses what is not an
 * object of this informer. Nothing is allocated for an ordinary one.
 */
import { KubeloomError } from '../errors.ts';
import { KeySpans, scanKey, scanMetadata } from '../json/key-spans.ts';
import { bytesEqual, decodeStringContent, decodeStringToken, findPath } from '../json/read.ts';
import { validValueEnd } from '../json/validate.ts';
import type { DeltaKind } from '../record/delta.ts';
import type { ReflectorSpec } from '../threads/protocol.ts';
import type { ListHead } from '../transport/list-skeleton.ts';
import { typeMetaOf } from './router.ts';
import type { ObjectTarget, Router } from './router.ts';
import { RESOURCE_VERSION_BYTES_MAX } from './watch-position.ts';

/**
 * `skipped`: it was reported and must not be offered again. `malformed`: this is no JSON object, and where
 * the next one begins is anybody's guess.
 */
export type Written = 'written' | 'no-room' | 'skipped' | 'malformed';

/** Names have up to 253 characters; keys must also fit into the records between the threads. */
export const NAME_BYTES_MAX = 1024;

/** Objects up to here are read whole, whatever the limit: names may come after long annotations. */
const IDENTITY_BYTES_MIN = 2 ** 20;
/** An event around its object. */
const ENVELOPE_BYTES = 1024;

/** `PodList` is a list of what is a `Pod`. */
const LIST_SUFFIX = 'List';
const EXCERPT_MEMBERS = ['type', 'kind', 'metadata.name', 'object.kind', 'object.metadata.name'];

export class ObjectWriter {
  /** Of the object that was written last. */
  readonly spans: KeySpans = new KeySpans();
  readonly #router: Router;
  #target: ObjectTarget;
  readonly #report: (error: KubeloomError) => void;
  /** What objects of this kind begin with, up to the value of metadata: typed ones, custom ones, items of lists. */
  readonly #beginnings: readonly Buffer[];

  constructor(router: Router, informer: number, spec: ReflectorSpec, report: (error: KubeloomError) => void) {
    const { kind, apiVersion, recordBytesMax } = spec;
    this.#router = router;
    this.#target = { informer, recordBytesMax, kind, apiVersion, typeMeta: typeMetaOf(kind, apiVersion) };
    this.#report = report;
    const kindMember = `"kind":${JSON.stringify(kind)}`;
    const versionMember = `"apiVersion":${JSON.stringify(apiVersion)}`;
    const beginnings = [`{${kindMember},${versionMember},`, `{${versionMember},${kindMember},`, '{'];
    this.#beginnings = beginnings.map((text) => Buffer.from(`${text}"metadata":`));
  }

  /** Objects of a kind that nobody knows come in a list of this kind: its items say less than it does. */
  learn({ kind: listKind = '', apiVersion = '' }: ListHead): void {
    const kind = listKind.endsWith(LIST_SUFFIX) ? listKind.slice(0, -LIST_SUFFIX.length) : '';
    if (this.#target.kind === '') this.#target = { ...this.#target, typeMeta: typeMetaOf(kind, apiVersion) };
  }

  write(kind: DeltaKind, bytes: Buffer, start: number, end: number): Written {
    const spans = this.spans;
    const metadata = this.#findMetadata(bytes, start, end);
    if (metadata >= 0) {
      if (!scanMetadata(bytes, metadata, end, spans)) return this.#refuseNameless(bytes, start, end);
    } else {
      if (!scanKey(bytes, start, end, spans)) return this.#refuseNameless(bytes, start, end);
      if (!this.#isOurs(bytes, start, end)) return this.#refuseStranger(bytes, start, end);
    }
    if (!hasSaneLengths(spans)) return this.#refuseStranger(bytes, start, end);
    if (spans.resourceVersionEnd <= spans.resourceVersionStart)
      return this.#refuseUnversioned(bytes, start, end);
    if ((spans.nameEscaped || spans.namespaceEscaped) && !isDecodable(bytes, spans)) return 'malformed';
    return this.#router.offerObject(this.#target, kind, bytes, start, end, spans) ? 'written' : 'no-room';
  }

  /** An object of which only the beginning is here: its identity, if that can be found there. */
  writeOversized(kind: DeltaKind, bytes: Buffer, start: number, end: number): Written {
    const spans = this.spans;
    if (!scanKey(bytes, start, end, spans)) return this.#refuseUnidentified(bytes, start, end);
    if (!this.#isOurs(bytes, start, end) || !hasSaneLengths(spans) || !isDecodable(bytes, spans)) {
      return this.#refuseStranger(bytes, start, end);
    }
    return this.#router.offerIdentity(this.#target, kind, bytes, spans) ? 'written' : 'no-room';
  }

  /** Where the value of metadata begins in an object that is ours at first sight, or -1. */
  #findMetadata(bytes: Buffer, start: number, end: number): number {
    for (const beginning of this.#beginnings) {
      const metadata = start + beginning.length;
      if (metadata < end && bytesEqual(bytes, start, beginning)) return metadata;
    }
    return -1;
  }

  /** Whether the object is of the informer's kind and version, as far as it says. */
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
    if (!this.#isOurs(bytes, start, end)) return this.#refuseStranger(bytes, start, end);
    this.#report(
      new KubeloomError(
        'ERR_KUBELOOM_OBJECT_WITHOUT_NAME',
        `the server sent an object without metadata.name, which was skipped: ${excerpt(bytes, start, end)}`,
      ),
    );
    return 'skipped';
  }

  #refuseUnversioned(bytes: Buffer, start: number, end: number): Written {
    const isJson = validValueEnd(bytes, start, end) === end;
    if (!isJson) return 'malformed';
    this.#report(
      new KubeloomError(
        'ERR_KUBELOOM_NO_RESOURCE_VERSION',
        'the server sent an object without metadata.resourceVersion, which was skipped: ' +
          excerpt(bytes, start, end),
      ),
    );
    return 'skipped';
  }

  #refuseUnidentified(bytes: Buffer, start: number, end: number): Written {
    this.#report(
      new KubeloomError(
        'ERR_KUBELOOM_OBJECT_TOO_LARGE',
        `an object above the limit has no name in its first ${end - start} bytes and was skipped; raise ` +
          `recordBytesMax above its size: ${excerpt(bytes, start, end)}`,
      ),
    );
    return 'skipped';
  }

  #refuseStranger(bytes: Buffer, start: number, end: number): Written {
    this.#report(
      new KubeloomError(
        'ERR_KUBELOOM_UNEXPECTED_OBJECT',
        `the server sent something that is not a ${this.#description()} and was skipped: ` +
          excerpt(bytes, start, end),
      ),
    );
    return 'skipped';
  }

  #description(): string {
    const { kind, apiVersion } = this.#target;
    return kind === '' ? 'Kubernetes object' : `${kind} (${apiVersion})`;
  }
}

/** What a line or an item is assembled up to. */
export function frameBytesMax(recordBytesMax: number): number {
  return Math.max(recordBytesMax, IDENTITY_BYTES_MIN) + ENVELOPE_BYTES;
}

/** Which object or event it is, for an error message. Never what is in it: it may be a Secret. */
export function excerpt(bytes: Buffer, start: number, end: number): string {
  const found = EXCERPT_MEMBERS.map((path) => [path, textOf(bytes, start, end, path)?.slice(0, 80)] as const);
  const known = Object.fromEntries(found.filter(([, text]) => text !== undefined));
  return `${end - start} bytes${Object.keys(known).length === 0 ? '' : ` ${JSON.stringify(known)}`}`;
}

/** The string at a dotted path, or undefined. */
function textOf(bytes: Buffer, start: number, end: number, member: string): string | undefined {
  const span = findPath(bytes, start, end, member);
  return span && decodeStringToken(bytes, span.start, span.end);
}

function hasSaneLengths(spans: KeySpans): boolean {
  return (
    spans.nameEnd - spans.nameStart <= NAME_BYTES_MAX &&
    spans.namespaceEnd - spans.namespaceStart <= NAME_BYTES_MAX &&
    spans.uidEnd - spans.uidStart <= NAME_BYTES_MAX &&
    spans.resourceVersionEnd - spans.resourceVersionStart <= RESOURCE_VERSION_BYTES_MAX
  );
}

function isDecodable(bytes: Buffer, spans: KeySpans): boolean {
  if (decodeStringContent(bytes, spans.nameStart, spans.nameEnd) === undefined) return false;
  return (
    !spans.namespaceEscaped ||
    decodeStringContent(bytes, spans.namespaceStart, spans.namespaceEnd) !== undefined
  );
}
