/** What the stores of all informers on the same threads share. */
import { DecodedCache } from './decoded-cache.ts';
import { SlabMemory } from './slab-memory.ts';

export class StoreMemory {
  readonly decodedCache: DecodedCache;
  readonly slabMemory: SlabMemory = new SlabMemory();

  /** @param decodedCacheBytes of parsed objects that are remembered, in bytes of heap */
  constructor(decodedCacheBytes: number) {
    this.decodedCache = new DecodedCache(decodedCacheBytes);
  }
}
