/**
 * Packs the items of an informer's lists before they leave the shard, so that the main thread copies and holds a tenth
 * of the bytes. The samples go to the main thread as objects like all others, with a mark: so it builds the same
 * dictionary from the same samples in the same order, and no thread needs the memory of another.
 *
 * The samples stay for the next list, whose items then mostly become the bytes that the main thread already has.
 */
import { Dictionary, PACK_SLACK_BYTES } from '../shared/pack/pack.ts';
import { OBJECT_BYTES_MAX, Sampler, copyToPack } from '../shared/pack/sampler.ts';

/** Bytes that are not packed after objects that do not resemble each other: to find that out costs more than to pack. */
const REST_BYTES: number = 2 ** 21;

export class ItemPacker {
  readonly #sampler: Sampler = new Sampler(() => new Dictionary(1));
  /** Scratch memory; a record may wait in it for room in the ring while other shards of the thread go on. */
  #target: Buffer | undefined;
  readonly #bytesMin: number;
  /** Bytes of items that pass before the next is packed. */
  #restBytes = 0;

  /** @param bytesMin bytes of a list before the first item that is packed */
  constructor(bytesMin: number) {
    this.#bytesMin = bytesMin;
  }

  beginList(): void {
    if (!this.#sampler.current) this.#restBytes = this.#bytesMin;
  }

  /**
   * Returns the packed item, valid until the next call; `sample` if the main thread must receive the item with the mark of
   * a sample, and undefined if the item stays as it is.
   */
  pack(bytes: Buffer, start: number, length: number): Buffer | 'sample' | undefined {
    if (this.#restBytes > 0) {
      this.#restBytes -= length;
      return undefined;
    }
    const item = copyToPack(bytes, start, length);
    if (!item) return undefined;
    const target = (this.#target ??= Buffer.allocUnsafeSlow(OBJECT_BYTES_MAX / 2 + PACK_SLACK_BYTES));
    const packedBytes = this.#sampler.pack(item, target);
    if (this.#sampler.isFruitless) this.#restBytes = REST_BYTES;
    if (this.#sampler.hasAdded) return 'sample';
    const dictionary = this.#sampler.current;
    if (!dictionary || packedBytes < 0) return undefined;
    dictionary.savedBytes += length - packedBytes;
    return target.subarray(0, packedBytes);
  }
}
