/**
 * The extracted fields of one object. A shard extracts them from the bytes, so that selectors, indexes and most
 * handlers never parse the object. States that differ only in their version and managedFields share one instance and
 * its parsed metadata (docs/decisions/0015); siblings share the fields they have in common (docs/decisions/0017).
 *
 * The shard writes a JSON array, `[uid, generation, deletionTimestamp, controllerUid, labels, …fields, modules?]`.
 */
import { decodeStringToken } from '../../kube/json/read.ts';
import { skipValue } from '../../kube/json/skip.ts';
import { ProjectedFields } from './projected-fields.ts';
import type { SharedFields } from './projected-fields.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NO_FIELDS: ProjectedFields = new ProjectedFields('');

export class Projection {
  /** '' when the object has no uid. */
  readonly uid: string;
  readonly fields: ProjectedFields;
  /** True when more than one state has it. */
  isShared = false;
  /** Parsed metadata without managedFields, of one of the states that share this; the others have another version. */
  metadata: object | undefined = undefined;

  constructor(uid: string, fields: ProjectedFields) {
    this.uid = uid;
    this.fields = fields;
  }

  /**
   * Reads the array at [start, end), which may be empty. Parts equal to those of `previous` are reused.
   *
   * @param previous fields of an earlier state of the object
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

  /** Returns whether both have the same extracted fields. */
  equals(other: Projection): boolean {
    return this === other || (this.uid === other.uid && this.fields.text === other.fields.text);
  }

  forgetDecoded(): void {
    this.metadata = undefined;
  }
}

/** Returns whether the token at `at` is `uid`, written without escapes. */
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
