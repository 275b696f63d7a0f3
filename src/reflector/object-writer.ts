/**
 * One object of a list or watch on its way to the router: finds out who it is, and refuses what is not an
 * object of this informer. Nothing is allocated for an ordinary one.
 */
import { KubeloomError } from '../errors.ts';
import { KeySpans, scanKey } from '../json/key-spans.ts';
import { bytesEqual, decodeStringContent, decodeStringToken, decodeUtf8, findPath } from '../json/read.ts';
import { validValueEnd } from '../json/validate.ts';
import { openObject } from '../json/walk.ts';
import type { DeltaKind } from '../record/delta.ts';
import type { ReflectorSpec } from '../threads/protocol.ts';
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

const METADATA = Buffer.from('"metadata"');
const EXCERPT_BYTES = 120;

export class ObjectWriter {
  /** Of the object that was written last. */
  readonly spans: KeySpans = new KeySpans();
  readonly #router: Router;
  readonly #target: ObjectTarget;
  readonly #report: (error: KubeloomError) => void;
  /** What objects of this kind usually begin with: typed ones, custom ones. */
  readonly #beginnings: readonly Buffer[];

  constructor(router: Router, informer: number, spec: ReflectorSpec, report: (error: KubeloomError) => void) {
    const { kind, apiVersion, recordBytesMax } = spec;
    this.#router = router;
    this.#target = { informer, recordBytesMax, kind, apiVersion, typeMeta: typeMetaOf(kind, apiVersion) };
    this.#report = report;
    const kindMember = `"kind":${JSON.stringify(kind)}`;
    this.#beginnings = [
      Buffer.from(kindMember),
      Buffer.from(`"apiVersion":${JSON.stringify(apiVersion)},${kindMember}`),
      METADATA,
    ];
  }

  write(kind: DeltaKind, bytes: Buffer, start: number, end: number): Written {
    const spans = this.spans;
    if (!scanKey(bytes, start, end, spans)) return this.#refuseNameless(bytes, start, end);
    if (!this.#isOurs(bytes, start, end)) return this.#refuseStranger(bytes, start, end);
    if (!hasSaneLengths(spans)) return this.#refuseStranger(bytes, start, end);
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

  /** Whether the object is of the informer's kind, as far as it says. */
  #isOurs(bytes: Buffer, start: number, end: number): boolean {
    if (this.#target.kind === '') return true;
    const first = openObject(bytes, start, end);
    for (const beginning of this.#beginnings) {
      if (bytesEqual(bytes, first, beginning)) return true;
    }
    const kind = kindOf(bytes, start, end);
    return kind === undefined || kind === this.#target.kind;
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
        `the server sent something that is not a ${this.#target.kind || 'Kubernetes object'} and was skipped: ` +
          excerpt(bytes, start, end),
      ),
    );
    return 'skipped';
  }
}

/** What a line or an item is assembled up to. */
export function frameBytesMax(recordBytesMax: number): number {
  return Math.max(recordBytesMax, IDENTITY_BYTES_MIN) + ENVELOPE_BYTES;
}

/** The start of an object, for an error message. */
export function excerpt(bytes: Buffer, start: number, end: number): string {
  const cut = Math.min(end, start + EXCERPT_BYTES);
  return JSON.stringify(decodeUtf8(bytes, start, cut)) + (cut < end ? '…' : '');
}

/** The top-level `kind`, or undefined. */
export function kindOf(bytes: Buffer, start: number, end: number): string | undefined {
  const span = findPath(bytes, start, end, 'kind');
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
