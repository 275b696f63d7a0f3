/**
 * Encoder of one informer's parsed objects as msgpack with shared structures. `record/msgpack.ts` has the decoder and
 * the record for new structures.
 *
 * It avoids three traps of msgpackr. `StructureShapes` fills the table, instead of every shape that occurs. Keys with a
 * meaning in JavaScript (`toJSON`) are data. An object that would not come back equal is rejected and stays JSON.
 */
import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { Structure } from '../shared/record/msgpack.ts';
import { ByteScratch } from './byte-scratch.ts';
import { RECORDS_MAX, StructureShapes } from './structure-shapes.ts';

/** Size above which msgpackr's buffer (one for the whole thread) is replaced after use. */
const KEPT_BUFFER_BYTES_MAX = 2 ** 20;
const BUFFER_BYTES = 64 * 1024;

export class MsgpackEncoder {
  readonly #shapes: StructureShapes;
  readonly #packr: Packr;
  readonly #result: ByteScratch = new ByteScratch();
  #structures: readonly Structure[] = [];
  #toldStructures = 0;

  /** @param structureBytesMax limit for the keys of one structure, as JSON */
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
    // A lone surrogate has no UTF-8 form; in valid JSON it occurs only as an escape.
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
    const first = this.#toldStructures;
    this.#toldStructures = this.#structures.length;
    return { first, structures: this.#structures.slice(first) };
  }
}
