/**
 * Looks at an object before msgpackr does, and decides per nested object whether it is a record (its keys go
 * into the shared table) or a map (its keys travel with it).
 *
 * Kubernetes' own fields are records: few shapes, the same in every object. Labels, annotations, the `f:`
 * trees of managedFields and the data of ConfigMaps are maps: as many shapes as users have ideas, so they must
 * not eat the table. They give themselves away by keys that are no field names, or by not coming again: a
 * shape is admitted when it is seen for the second time, and how many may wait for that is bounded.
 *
 * The same walk finds what does not survive msgpackr (`isSafe`), and such an object stays JSON:
 * `__proto__` keys (renamed on decoding), numbers that a double cannot hold or that have no bits to spare
 * (-0), and nesting that would exhaust the stack.
 */
import type { Structure } from '../record/msgpack.ts';

interface ShapeNode {
  readonly children: Map<string, ShapeNode>;
  /** Objects with exactly the keys up to here that have been seen while it was no record. */
  sightings: number;
  isRecord: boolean;
}

/** msgpackr allows 8160; nobody has so many shapes, and what does not fit becomes a map. */
export const RECORDS_MAX = 2048;
const SIGHTINGS_FOR_RECORD = 2;
const WAITING_NODES_MAX = 8192;
const KEY_LENGTH_MAX = 64;
const KEYS_MAX = 128;
const DEPTH_MAX = 256;

export class StructureShapes {
  #root: ShapeNode = emptyNode();
  readonly #records: Structure[] = [];
  readonly #keysLengthMax: number;
  #waitingNodes = 0;
  /** For every object of the one inspected last, in the order of msgpackr's walk: is it a record? */
  #decisions: boolean[] = [];
  #decisionAt = 0;
  #isSafe = true;

  /** @param keysLengthMax what one shape may need in the record that tells of it */
  constructor(keysLengthMax: number) {
    this.#keysLengthMax = keysLengthMax;
  }

  /** False when msgpackr would not give the same object back. */
  inspect(object: object): boolean {
    if (this.#waitingNodes >= WAITING_NODES_MAX) this.#forgetSightings();
    this.#decisions.length = 0;
    this.#decisionAt = 0;
    this.#isSafe = true;
    this.#inspectValue(object, 0);
    return this.#isSafe;
  }

  /** Called by msgpackr for each object, in the order in which `inspect` came to them. */
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

  /** Keeps the records only: shapes that did not come again make room. */
  #forgetSightings(): void {
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
 * Letters, digits, `$` and `_`: what Kubernetes calls its fields; `app.kubernetes.io/name` is none. No leading
 * underscore: msgpackr keeps notes under `__keys__` among the keys.
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
