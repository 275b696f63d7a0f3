/**
 * The projected fields of one object: what a shard extracted from its bytes so that selectors, indexes and
 * most handlers never parse the object. States that differ, before managedFields, in nothing but their version share one
 * projection, and with it their parsed metadata (docs/decisions/0015); what siblings have in common they share too
 * (docs/decisions/0017).
 *
 * The shard writes a JSON array, `[uid, generation, deletionTimestamp, controllerUid, labels, …fields, modules?]`.
 */
import { decodeStringToken } from '../json/read.ts';
import { skipValue } from '../json/skip.ts';
import { ProjectedFields } from './projected-fields.ts';
import type { SharedFields } from './projected-fields.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NO_FIELDS: ProjectedFields = new ProjectedFields('');

export class Projection {
  /** '' when the object has none. */
  readonly uid: string;
  readonly fields: ProjectedFields;
  /** More than one state has it. */
  isShared = false;
  /** Parsed, without managedFields, of one of the states that share this; the others have another version. */
  metadata: object | undefined = undefined;

  constructor(uid: string, fields: ProjectedFields) {
    this.uid = uid;
    this.fields = fields;
  }

  /**
   * The array at [start, end), or nothing at all; what `previous` has already is not made again.
   *
   * @param previous of an earlier state of the object
   */
  static read(
    bytes: Buffer,
    start: number,
    end: number,
    shared: SharedFields,
    previous: Projection | undefined,
  ): Projection {
    const uidStart = start + 1;
    const isUidSame = previous !== undefined && hasUid(bytes, uidStart, end, previous.uid);
    const uidEnd = isUidSame ? uidStart + previous.uid.length + 2 : skipValue(bytes, uidStart, end);
    if (uidEnd < 0) return new Projection('', NO_FIELDS);
    const uid = isUidSame ? previous.uid : uidAt(bytes, uidStart, uidEnd);
    const text = bytes.toString('latin1', uidEnd, end);
    return new Projection(uid, previous?.fields.text === text ? previous.fields : shared.of(text));
  }

  /** Whether the same was extracted from both. */
  equals(other: Projection): boolean {
    return this === other || (this.uid === other.uid && this.fields.text === other.fields.text);
  }

  forgetDecoded(): void {
    this.metadata = undefined;
  }
}

/** Whether the token at `at` is `uid`, written without escapes. */
function hasUid(bytes: Buffer, at: number, end: number, uid: string): boolean {
  const closingQuote = at + 1 + uid.length;
  if (closingQuote >= end || bytes[at] !== QUOTE || bytes[closingQuote] !== QUOTE) return false;
  for (let index = 0; index < uid.length; index++) {
    const byte = bytes[at + 1 + index];
    if (byte === QUOTE || byte === BACKSLASH || byte !== uid.charCodeAt(index)) return false;
  }
  return true;
}

function uidAt(bytes: Buffer, start: number, end: number): string {
  if (bytes[start] !== QUOTE) return '';
  const uid = bytes.toString('utf8', start + 1, end - 1);
  return uid.includes('\\') ? (decodeStringToken(bytes, start, end) ?? '') : uid;
}
