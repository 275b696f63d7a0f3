/** Slabs hold little more memory than their allocations, however long allocations come and go. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import { SlabTwin } from './slab-twin.ts';

const PUTS_PER_DRAIN = 256;
const COMPACTIONS_PER_DRAIN = 2;

interface Churn {
  readonly name: string;
  readonly population: number;
  readonly sizeMin: number;
  readonly sizeMax: number;
}

/** Replaces random allocations until 20x the allocated bytes went through; returns the highest held / allocated. */
function peakShareOf({ population, sizeMin, sizeMax }: Churn): number {
  const random = seededRandom(42);
  const twin = new SlabTwin(random, sizeMax);
  const { slabs } = twin;
  let peakShare = 0;
  for (let puts = 0; puts < population * 21; puts++) {
    twin.put(wholeNumber(random, sizeMin, sizeMax));
    if (twin.size > population) twin.releaseAny();
    if (puts % PUTS_PER_DRAIN !== 0) continue;
    for (let turn = 0; turn < COMPACTIONS_PER_DRAIN && slabs.hasCompaction; turn++) slabs.compact();
    if (twin.size === population) peakShare = Math.max(peakShare, slabs.heldBytes / slabs.liveBytes);
  }
  twin.check();
  return peakShare;
}

describe('random churn of 20x the allocated bytes', () => {
  const cases: readonly Churn[] = [
    { name: 'objects of 1 to 9 KB', population: 12_000, sizeMin: 1000, sizeMax: 9000 },
    { name: 'tiny objects', population: 40_000, sizeMin: 100, sizeMax: 500 },
    { name: 'objects of 20 to 60 KB', population: 1500, sizeMin: 20_000, sizeMax: 60_000 },
    { name: 'objects around a quarter of a slab', population: 120, sizeMin: 400_000, sizeMax: 650_000 },
  ];
  for (const each of cases) {
    test(`holds at most 1.3x the allocated bytes: ${each.name}`, () => {
      const peakShare = peakShareOf(each);
      assert.ok(peakShare <= 1.3, `${peakShare.toFixed(2)}x`);
    });
  }
});
