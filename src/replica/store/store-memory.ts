/** Memory and packing that the stores of all informers on the same threads share. */
import type { Clock } from '../../base/clock.ts';
import { DecodedCache } from './decoded-cache.ts';
import { PackingRounds } from './packing-rounds.ts';
import { SlabMemory } from './slab-memory.ts';

export interface StoreMemoryOptions {
  /** Heap bytes of parsed objects that are cached. */
  readonly decodedCacheBytes: number;
  /** Infinity: nothing is ever packed. */
  readonly packAfterMs: number;
  /** Informers whose objects have less than this in total are not packed. */
  readonly packBytesMin?: number | undefined;
  readonly clock: Clock;
  /** A counter that changes when changes were merged. */
  readonly merged: () => number;
}

export class StoreMemory {
  readonly decodedCache: DecodedCache;
  readonly slabMemory: SlabMemory = new SlabMemory();
  readonly packBytesMin: number | undefined;
  readonly packing: PackingRounds;

  constructor({ decodedCacheBytes, packAfterMs, packBytesMin, clock, merged }: StoreMemoryOptions) {
    this.decodedCache = new DecodedCache(decodedCacheBytes);
    this.packBytesMin = packBytesMin;
    const ended = (): void => this.slabMemory.tidy();
    this.packing = new PackingRounds({ clock, afterMs: packAfterMs, merged, ended });
  }
}
