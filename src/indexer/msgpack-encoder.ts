/**
 * Encoder of an informer's parsed objects as msgpack with shared structures. The decoder is in `record/msgpack.ts`.
 *
 * The encoder avoids three traps of msgpackr. `StructureShapes` fills the table, instead of every shape that occurs.
 * Keys with a meaning in JavaScript (`toJSON`) are data. An object that would not come back equal is rejected and stays
 * JSON.
 */
import type * as msgpackr from 'msgpackr';
// Without the native code of the whole package, which only decoding uses.
import * as packing from 'msgpackr/pack';
import { ByteScratch } from './notification-writer.ts';

// The declarations of msgpackr/pack name a file that the compiler does not find.
const { Packr, RESET_BUFFER_MODE }: Pick<typeof msgpackr, 'Packr' | 'RESET_BUFFER_MODE'> = packing;

/**
 * Limit of records, below msgpackr's 8160. Real objects have far fewer shapes; a shape that does not fit becomes a map.
 */
export const RECORDS_MAX = 2048;
const SIGHTINGS_FOR_RECORD = 2;
const WAITING_NODES_MAX = 8192;
const KEY_LENGTH_MAX = 64;
const KEYS_MAX = 128;
const DEPTH_MAX = 256;
/** Size above which msgpackr's buffer (shared by the whole thread) is replaced after use. */
const KEPT_BUFFER_BYTES_MAX = 2 ** 20;
const BUFFER_BYTES = 64 * 1024;

/** The keys of a record, in the order in which the record's values are written. */
export type Structure = readonly string[];

/** Returns records of at most `bytesMax` bytes each for `structures`; `first` is the number of the first structure. */
export function encodeStructures(
  first: number,
  structures: readonly Structure[],
  bytesMax: number,
): Buffer[] {
  const records: Buffer[] = [];
  let from = 0;
  let upTo = structures.length;
  while (from < structures.length) {
    const part = structures.slice(from, upTo);
    const bytes = Buffer.from(JSON.stringify({ first: first + from, structures: part }));
    if (bytes.length > bytesMax && part.length > 1) {
      upTo = from + Math.ceil(part.length / 2);
      continue;
    }
    records.push(bytes);
    from = upTo;
    upTo = structures.length;
  }
  return records;
}

export class MsgpackEncoder {
  readonly #shapes: StructureShapes;
  readonly #packr: msgpackr.Packr;
  readonly #result: ByteScratch = new ByteScratch();
  #structures: readonly Structure[] = [];
  #sentStructures = 0;

  /** @param structureBytesMax limit for the keys of a structure, as JSON */
  constructor(structureBytesMax: number) {
    this.#shapes = new StructureShapes(structureBytesMax);
    this.#packr = new Packr({
      saveStructures: (structures) => {
        this.#structures = structures as string[][];
      },
      maxSharedStructures: RECORDS_MAX,
      maxOwnStructures: 0,
      useRecords: this.#shapes.isNextRecord,
      useToJSON: false,
      variableMapSize: true,
    });
  }

  /**
   * Encodes an object.
   *
   * @param json the text from which `object` was parsed
   * @returns bytes that are valid until the next call, or undefined when the object must stay JSON
   */
  encode(object: object, json: string): Buffer | undefined {
    // A lone surrogate cannot be encoded as UTF-8; in valid JSON it occurs only as an escape.
    if (json.includes('\\ud') || json.includes('\\uD')) return undefined;
    if (!this.#shapes.inspect(object)) return undefined;
    let packed: Buffer;
    try {
      packed = this.#packr.pack(object, RESET_BUFFER_MODE);
    } catch {
      // Nested deeper than the stack allows, or too large for msgpackr.
      return undefined;
    }
    // Copy, because all users on this thread share msgpackr's buffer.
    this.#result.reset();
    this.#result.reserve(packed.length);
    this.#result.bytes.set(packed);
    if (packed.length > KEPT_BUFFER_BYTES_MAX) this.#packr.useBuffer(Buffer.allocUnsafeSlow(BUFFER_BYTES));
    return this.#result.bytes.subarray(0, packed.length);
  }

  /** Returns structures that were not sent to the decoder yet, and the number of the first. */
  takeNewStructures(): { readonly first: number; readonly structures: readonly Structure[] } {
    const first = this.#sentStructures;
    this.#sentStructures = this.#structures.length;
    return { first, structures: this.#structures.slice(first) };
  }
}

interface ShapeNode {
  readonly children: Map<string, ShapeNode>;
  /** Occurrences of objects with exactly the keys up to here, before it became a record. */
  sightings: number;
  isRecord: boolean;
}

/**
 * Inspection of an object before msgpackr packs it. It decides for each nested object whether the object is a record
 * (the keys go into the shared table) or a map (the keys are packed with the values).
 *
 * Kubernetes' own fields are records: few shapes, the same in every object. Labels, annotations, the `f:` trees of
 * managedFields and the data of ConfigMaps are maps: their shapes are unlimited, so they must not fill the table. Two
 * signs show a map: keys that are no field names, and shapes that do not occur again. So a shape is admitted at its
 * second occurrence, and the number of waiting shapes is bounded.
 *
 * The same walk finds objects that msgpackr would change (`isSafe`). Such an object stays JSON. Reasons are `__proto__`
 * keys (renamed on decoding), numbers that a double cannot hold exactly, -0, and nesting that would exhaust the stack.
 */
class StructureShapes {
  #root: ShapeNode = emptyNode();
  readonly #records: Structure[] = [];
  readonly #keysLengthMax: number;
  #waitingNodes = 0;
  /** Decisions (record or not) for each nested object of the last inspected object, in the order of msgpackr's walk. */
  #decisions: boolean[] = [];
  #decisionAt = 0;
  #isSafe = true;

  /** @param keysLengthMax limit of a shape's keys in the record that sends it */
  constructor(keysLengthMax: number) {
    this.#keysLengthMax = keysLengthMax;
  }

  /** Inspects an object; returns false when msgpackr would not give the same object back. */
  inspect(object: object): boolean {
    if (this.#waitingNodes >= WAITING_NODES_MAX) this.#dropSightings();
    this.#decisions.length = 0;
    this.#decisionAt = 0;
    this.#isSafe = true;
    this.#inspectValue(object, 0);
    return this.#isSafe;
  }

  /** Returns the next decision; msgpackr calls it for each object, in the order of `inspect`. */
  readonly isNextRecord = (): boolean => this.#decisions[this.#decisionAt++] ?? false;

  #inspectValue(value: unknown, depth: number): void {
    if (typeof value === 'number') {
      if ((value | 0) !== value || value === 0) this.#inspectNumber(value);
    } else if (typeof value === 'object' && value !== null) {
      if (depth > DEPTH_MAX) this.#isSafe = false;
      else if (Array.isArray(value)) for (const item of value) this.#inspectValue(item, depth + 1);
      else this.#inspectObject(value as Readonly<Record<string, unknown>>, depth);
    }
  }

  #inspectObject(object: Readonly<Record<string, unknown>>, depth: number): void {
    const decision = this.#decisions.push(false) - 1;
    let node: ShapeNode | undefined = this.#root;
    let keys = 0;
    for (const key in object) {
      if (key === '__proto__') this.#isSafe = false;
      if (node !== undefined) node = node.children.get(key) ?? this.#addChild(node, key, keys);
      keys++;
      this.#inspectValue(object[key], depth + 1);
    }
    if (node === undefined || keys === 0) return;
    if (!node.isRecord) this.#sight(node, object);
    this.#decisions[decision] = node.isRecord;
  }

  #inspectNumber(value: number): void {
    const isSafe = Number.isInteger(value)
      ? Number.isSafeInteger(value) && !Object.is(value, -0)
      : Number.isFinite(value);
    if (!isSafe) this.#isSafe = false;
  }

  #addChild(node: ShapeNode, key: string, keysBefore: number): ShapeNode | undefined {
    if (!isFieldName(key) || keysBefore >= KEYS_MAX || this.#records.length >= RECORDS_MAX) return undefined;
    if (this.#waitingNodes >= WAITING_NODES_MAX) return undefined;
    this.#waitingNodes++;
    const child = emptyNode();
    node.children.set(key, child);
    return child;
  }

  #sight(node: ShapeNode, object: object): void {
    node.sightings++;
    if (node.sightings < SIGHTINGS_FOR_RECORD || this.#records.length >= RECORDS_MAX) return;
    const keys = Object.keys(object);
    if (JSON.stringify(keys).length > this.#keysLengthMax) return;
    node.isRecord = true;
    this.#records.push(keys);
  }

  /** Keeps the records only; shapes that have not occurred again make room. */
  #dropSightings(): void {
    this.#root = emptyNode();
    this.#waitingNodes = 0;
    for (const keys of this.#records) {
      let node = this.#root;
      for (const key of keys) {
        const child = node.children.get(key) ?? emptyNode();
        node.children.set(key, child);
        node = child;
      }
      node.isRecord = true;
    }
  }
}

function emptyNode(): ShapeNode {
  return { children: new Map(), sightings: 0, isRecord: false };
}

/**
 * Returns whether a key looks like a Kubernetes field: letters, digits, `$` and `_`; `app.kubernetes.io/name` does not.
 * No leading underscore: msgpackr keeps notes under `__keys__` among the keys.
 */
function isFieldName(key: string): boolean {
  if (key.length === 0 || key.length > KEY_LENGTH_MAX) return false;
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
    const isOther = (code >= 0x30 && code <= 0x39) || code === 0x24 || code === 0x5f;
    if (!isLetter && !(isOther && at > 0)) return false;
  }
  return true;
}
