/**
 * Facts of an object that need no parsing: the identity, and the fields that a shard extracted from the bytes, so that
 * selectors, indexes and most handlers never parse the object. States that differ only in version and managedFields
 * share an instance with the parsed metadata (docs/decisions/0015); siblings share equal fields (docs/decisions/0017).
 *
 * The shard writes a JSON array, `[uid, generation, deletionTimestamp, controllerUid, labels, …fields, modules?]`.
 */
import { deepFreeze } from '../../base/deep-freeze.ts';
import { parseJson } from '../../base/parse-json.ts';
import { decodeStringToken } from '../../kube/json/read.ts';
import { skipValue } from '../../kube/json/skip.ts';
import type { ObjectParts } from './object-parts.ts';

/** The facts that are equal in all states of an object. */
export interface Identity {
  /** `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: string;
  /** Namespace of the object; '' for a cluster-scoped object. */
  readonly namespace: string;
  /** Name of the object. */
  readonly name: string;
}

const QUOTE = 0x22;

const GENERATION = 1;
const DELETION_TIMESTAMP = 2;
const CONTROLLER_UID = 3;
const LABELS = 4;
const FIELDS = 5;

/** Labels of an object, by name. */
export type Labels = Readonly<Record<string, string>>;
const NO_LABELS: Labels = Object.freeze({});

/** Declared fields of an object, by path; an absent field has no member. */
export type DeclaredFields = Readonly<Record<string, unknown>>;

/**
 * The extracted fields besides the uid. Pods of a ReplicaSet share labels, controller and most declared fields: objects
 * with equal text share an instance, whose values are parsed once.
 *
 * @internal
 */
export class FieldValues {
  /**
   * Rest of the array, `,generation,…]`; '' without an array. It is a latin1 string (a byte for each character), so
   * that two texts are compared with a single memcmp.
   */
  readonly text: string;
  #values: readonly unknown[] | undefined;
  #declared: DeclaredFields | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get generation(): number | undefined {
    const generation = this.#at(GENERATION);
    return typeof generation === 'number' ? generation : undefined;
  }

  get deletionTimestamp(): string | undefined {
    return this.#textAt(DELETION_TIMESTAMP);
  }

  get controllerUid(): string | undefined {
    return this.#textAt(CONTROLLER_UID);
  }

  get labels(): Labels {
    const labels = this.#at(LABELS);
    return typeof labels === 'object' && labels !== null ? (labels as Labels) : NO_LABELS;
  }

  /** Returns the declared field with this number; undefined if the object lacks it. */
  field(index: number): unknown {
    return this.#at(FIELDS + index) ?? undefined;
  }

  /** Returns the declared fields by path. @param paths of the informer, which are the same in every call */
  declared(paths: readonly string[]): DeclaredFields {
    return (this.#declared ??= this.#named(paths));
  }

  /** Returns the values that index modules computed on the shard, by index name. */
  moduleValues(fieldCount: number): Readonly<Record<string, readonly string[]>> | undefined {
    return this.field(fieldCount) as Readonly<Record<string, readonly string[]>> | undefined;
  }

  #named(paths: readonly string[]): DeclaredFields {
    const fields: Record<string, unknown> = {};
    paths.forEach((path, index) => {
      const value = this.field(index);
      // An assignment to this name would set the prototype.
      if (path === '__proto__' && value !== undefined)
        Object.defineProperty(fields, path, { value, enumerable: true });
      else if (value !== undefined) fields[path] = value;
    });
    return Object.freeze(fields);
  }

  #textAt(index: number): string | undefined {
    const text = this.#at(index);
    return typeof text === 'string' ? text : undefined;
  }

  #at(index: number): unknown {
    this.#values ??= parse(this.text);
    return this.#values[index];
  }
}

const NO_FIELDS: FieldValues = new FieldValues('');

/** Limits of the number and length of texts: further or longer texts are seldom shared. */
const TEXTS_MIN = 4096;
const TEXT_LENGTH_MAX = 1024;

/**
 * @internal A Map that keeps the latest keys: at least `count` and at most twice as many, in two generations, of which
 *   the older is dropped as a whole. Deleting the oldest key of a single Map each time is three times slower, because
 *   V8 steps over all keys deleted before.
 */
export class RecentMap<Value> {
  readonly #count: number;
  #young: Map<string, Value> = new Map();
  #old: Map<string, Value> = new Map();

  constructor(count: number) {
    this.#count = count;
  }

  /** Returns the value of a key, and keeps the key in the young generation. */
  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  /** Sets the value of a key in the young generation. */
  set(key: string, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#count) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

/** @internal The latest fields of an informer's objects, by their text. */
export class SharedFields {
  readonly #byText: RecentMap<FieldValues> = new RecentMap(TEXTS_MIN);
  /** The last fields: listed siblings arrive in a row, and comparing two texts takes less time than hashing a text. */
  #last: FieldValues = NO_FIELDS;

  of(text: string): FieldValues {
    if (text === this.#last.text) return this.#last;
    if (text.length > TEXT_LENGTH_MAX) return new FieldValues(text);
    const byText = this.#byText;
    const known = byText.get(text);
    this.#last = known ?? new FieldValues(text);
    if (known) return known;
    byText.set(text, this.#last);
    return this.#last;
  }
}

/** Characters of a UUID, `8-4-4-4-12`, and of its JSON string. */
const UUID_LENGTH = 36;
const UUID_TOKEN_LENGTH = 38;

const DASH = 0x2d;

/** Values of hexadecimal digits by character; -1 for every other character. */
const DIGITS: Int8Array = new Int8Array(256).fill(-1);
for (let value = 0; value < 16; value++) DIGITS[value.toString(16).charCodeAt(0)] = value;

const scratch: Buffer = Buffer.alloc(UUID_TOKEN_LENGTH, '"');

/** The digits of a UUID; all numbers are 0 without a UUID. */
interface UuidWords {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
}

/**
 * @internal A uid as Kubernetes writes it, a UUID in lower case, as four numbers. The text would be 56 bytes of heap for each
 *   object, and V8's collector would copy the text twice while a list is read.
 */
export class Uuid implements UuidWords {
  a = 0;
  b = 0;
  c = 0;
  d = 0;

  /** Reads the JSON string at `start`. @returns false if it is no UUID, or all digits are 0 */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const hasMarks =
      start + UUID_TOKEN_LENGTH <= end &&
      bytes[start] === QUOTE &&
      bytes[start + 9] === DASH &&
      bytes[start + 14] === DASH &&
      bytes[start + 19] === DASH &&
      bytes[start + 24] === DASH &&
      bytes[start + 37] === QUOTE;
    const a = digitsAt(bytes, start + 1);
    const aLow = digitsAt(bytes, start + 5);
    const b = digitsAt(bytes, start + 10);
    const bLow = digitsAt(bytes, start + 15);
    const c = digitsAt(bytes, start + 20);
    const cLow = digitsAt(bytes, start + 25);
    const d = digitsAt(bytes, start + 29);
    const dLow = digitsAt(bytes, start + 33);
    const isUuid = hasMarks && (a | aLow | b | bLow | c | cLow | d | dLow) > 0;
    this.a = isUuid ? (a << 16) | aLow : 0;
    this.b = isUuid ? (b << 16) | bLow : 0;
    this.c = isUuid ? (c << 16) | cLow : 0;
    this.d = isUuid ? (d << 16) | dLow : 0;
    return isUuid;
  }

  /** As `read`, of the text itself. */
  readText(text: string): boolean {
    const isLong = text.length === UUID_LENGTH && scratch.write(text, 1, UUID_LENGTH) === UUID_LENGTH;
    return this.read(scratch, 0, isLong ? UUID_TOKEN_LENGTH : 0);
  }
}

/** Returns the value of four digits, or a negative number. */
function digitsAt(bytes: Uint8Array, at: number): number {
  return (
    (digitAt(bytes, at) << 12) |
    (digitAt(bytes, at + 1) << 8) |
    (digitAt(bytes, at + 2) << 4) |
    digitAt(bytes, at + 3)
  );
}

function digitAt(bytes: Uint8Array, at: number): number {
  return DIGITS[bytes[at] ?? 0] ?? -1;
}

/** @internal */
export function uuidText({ a, b, c, d }: UuidWords): string {
  const [first, second, third, fourth] = [hex(a), hex(b), hex(c), hex(d)];
  return `${first}-${second.slice(0, 4)}-${second.slice(4)}-${third.slice(0, 4)}-${third.slice(4)}${fourth}`;
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}

/** Uids that are no UUIDs, as of test servers. */
const otherUids: WeakMap<ObjectFacts, string> = new WeakMap();
const readUuid: Uuid = new Uuid();

/** @internal */
export class ObjectFacts implements Identity {
  readonly key: string;
  readonly namespace: string;
  readonly fields: FieldValues;
  // The uid as a `Uuid`; all are 0 for another uid.
  readonly #a: number;
  readonly #b: number;
  readonly #c: number;
  readonly #d: number;
  /** Whether several states have the facts. */
  isShared = false;
  /** Parts of the newest state of which a handler read a member, or that were parsed first. */
  parts: ObjectParts | undefined = undefined;

  constructor(
    { key, namespace }: Pick<Identity, 'key' | 'namespace'>,
    uuid: Readonly<Uuid>,
    fields: FieldValues,
  ) {
    this.key = key;
    this.namespace = namespace;
    this.#a = uuid.a;
    this.#b = uuid.b;
    this.#c = uuid.c;
    this.#d = uuid.d;
    this.fields = fields;
  }

  /** '' if the object lacks a uid. */
  get uid(): string {
    return this.#hasUuid
      ? uuidText({ a: this.#a, b: this.#b, c: this.#c, d: this.#d })
      : (otherUids.get(this) ?? '');
  }

  get #hasUuid(): boolean {
    return (this.#a | this.#b | this.#c | this.#d) !== 0;
  }

  get name(): string {
    return this.namespace === '' ? this.key : this.key.slice(this.namespace.length + 1);
  }

  /** Reads the array at [start, end), which may be empty. Parts equal to those of the `previous` state are reused. */
  static read(
    identity: Pick<Identity, 'key' | 'namespace'>,
    bytes: Buffer,
    { start, end }: { readonly start: number; readonly end: number },
    shared: SharedFields,
    previous: ObjectFacts | undefined,
  ): ObjectFacts {
    const uidStart = start + 1;
    const isToken = readUuid.read(bytes, uidStart, end);
    const uidEnd = isToken ? uidStart + UUID_TOKEN_LENGTH : skipValue(bytes, uidStart, end);
    if (uidEnd < 0) return new ObjectFacts(identity, readUuid, NO_FIELDS);
    const uid = isToken ? '' : uidAt(bytes, uidStart, uidEnd);
    // A UUID with escapes is stored like any other, because facts and uids are compared by their numbers.
    const otherUid = uid === '' || readUuid.readText(uid) ? '' : uid;
    const text = bytes.toString('latin1', uidEnd, end);
    const fields = previous?.fields.text === text ? previous.fields : shared.of(text);
    const facts = new ObjectFacts(identity, readUuid, fields);
    if (otherUid !== '') otherUids.set(facts, otherUid);
    return facts;
  }

  hasUid(uid: string): boolean {
    if (!readUuid.readText(uid)) return !this.#hasUuid && uid === this.uid;
    const { a, b, c, d } = readUuid;
    return this.#a === a && this.#b === b && this.#c === c && this.#d === d;
  }

  equals(other: ObjectFacts): boolean {
    if (this === other) return true;
    const isSame =
      this.#a === other.#a &&
      this.#b === other.#b &&
      this.#c === other.#c &&
      this.#d === other.#d &&
      this.fields.text === other.fields.text;
    return isSame && (this.#hasUuid || this.uid === other.uid);
  }

  forgetDecoded(): void {
    if (this.parts?.hasMembers) this.parts.sharedMetadata = undefined;
    else this.parts = undefined;
  }
}

function uidAt(bytes: Buffer, start: number, end: number): string {
  if (bytes[start] !== QUOTE) return '';
  const uid = bytes.toString('utf8', start + 1, end - 1);
  return uid.includes('\\') ? (decodeStringToken(bytes, start, end) ?? '') : uid;
}

/** Parses the array with null in place of the uid. */
function parse(text: string): readonly unknown[] {
  const array = `[null${text}`;
  // Only non-ASCII text is decoded over its bytes.
  // oxlint-disable-next-line no-control-regex -- U+0080 and above are what is looked for
  const json = /[^\u0000-\u007f]/.test(array) ? Buffer.from(array, 'latin1').toString('utf8') : array;
  const values = parseJson(json);
  if (!Array.isArray(values)) return [];
  // Entries with the same fields share them.
  for (const value of values) deepFreeze(value);
  return values;
}
