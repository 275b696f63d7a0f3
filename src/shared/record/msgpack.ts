/**
 * msgpack between a shard and the main thread: the objects of a shard and informer share a table of
 * structures (the key lists of records), which only grows. New structures travel in Structures records
 * before the first object that uses them.
 *
 * A Structures record is JSON: `{"first":52,"structures":[["name","image"],["ip"]]}`.
 */
import { Unpackr } from 'msgpackr';
import { KubeloomError } from '../../base/errors.ts';
import { parseJson } from '../../base/parse-json.ts';

export class MsgpackDecoder {
  /** The same arrays forever: msgpackr attaches generated readers to them. */
  readonly #structures: string[][] = [];
  readonly #unpackr: Unpackr = new Unpackr({
    mapsAsObjects: true,
    getStructures: () => [...this.#structures],
  });

  /** Adds the structures of a Structures record. */
  update(structuresBytes: Uint8Array): void {
    const { first, structures } = parseJson(Buffer.from(structuresBytes).toString('utf8')) as {
      readonly first: number;
      readonly structures: readonly string[][];
    };
    structures.forEach((structure, index) => (this.#structures[first + index] = structure));
  }

  /** Number of structures so far, unused numbers included. */
  get end(): number {
    return this.#structures.length;
  }

  /** Returns a Structures record of those from this number on. */
  since(first: number): Buffer {
    const start = Math.max(
      first,
      this.#structures.findIndex((structure) => structure !== undefined),
    );
    return Buffer.from(JSON.stringify({ first: start, structures: this.#structures.slice(start) }));
  }

  /** Decodes exactly one object. `bytes` must not be shared memory. Throws when the range is not a single object. */
  decode(bytes: Uint8Array, start: number, end: number): unknown {
    try {
      return this.#unpackr.unpack(bytes, { start, end });
    } catch {
      // Without the cause: msgpackr quotes the bytes, which may be a Secret.
      throw new KubeloomError('ERR_KUBELOOM_MALFORMED_OBJECT', 'the cached bytes are no msgpack');
    }
  }
}
