/**
 * Encodes parsed objects of one informer as msgpack with shared structures (`record/msgpack.ts` has the
 * decoder and the record that tells of new structures).
 *
 * msgpackr's own traps are kept out here: the table is filled by `StructureShapes` and not by whatever comes
 * along; keys that mean something to JavaScript (`toJSON`) are data; and objects that would not come back the
 * same are refused, so that their JSON is kept.
 */
import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { Structure } from '../record/msgpack.ts';
import { Scratch } from './scratch.ts';
import { RECORDS_MAX, StructureShapes } from './structure-shapes.ts';

/** Above, msgpackr's buffer (one for the whole thread) is replaced instead of kept. */
const KEPT_BUFFER_BYTES_MAX = 2 ** 20;
const BUFFER_BYTES = 64 * 1024;

export class MsgpackEncoder {
  readonly #shapes: StructureShapes;
  readonly #packr: Packr;
  readonly #result: Scratch = new Scratch();
  #structures: readonly Structure[] = [];
  #toldStructures = 0;

  /** @param structureBytesMax what the keys of one structure may take, as JSON */
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
   * @param json what `object` was parsed from
   * @returns bytes that are good until the next call, or undefined when the object must stay JSON
   */
  encode(object: object, json: string): Buffer | undefined {
    // A lone surrogate has no UTF-8; in valid JSON it can only hide in an escape.
    if (json.includes('\\ud') || json.includes('\\uD')) return undefined;
    if (!this.#shapes.inspect(object)) return undefined;
    let packed: Buffer;
    try {
      packed = this.#packr.pack(object, RESET_BUFFER_MODE);
    } catch {
      // Nested deeper than the stack allows, or too large for msgpackr.
      return undefined;
    }
    // msgpackr's buffer belongs to all who use it on this thread.
    this.#result.reset();
    this.#result.reserve(packed.length);
    this.#result.bytes.set(packed);
    if (packed.length > KEPT_BUFFER_BYTES_MAX) this.#packr.useBuffer(Buffer.allocUnsafeSlow(BUFFER_BYTES));
    return this.#result.bytes.subarray(0, packed.length);
  }

  /** Structures that the decoder does not know yet, and the number of the first. */
  takeNewStructures(): { readonly first: number; readonly structures: readonly Structure[] } {
    const first = this.#toldStructures;
    this.#toldStructures = this.#structures.length;
    return { first, structures: this.#structures.slice(first) };
  }
}
