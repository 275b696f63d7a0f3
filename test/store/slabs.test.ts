/**
 * Slabs: nothing is ever overwritten or lost while it lives, and what is dead is used again.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import type { Random } from '../../src/clock.ts';
import { SLAB_BYTES, Slabs } from '../../src/store/slabs.ts';
import type { Located } from '../../src/store/slabs.ts';
import { seededRandom, wholeNumber } from '../ring/random.ts';
import { SlabTwin } from './slab-twin.ts';

const LARGE_MAX = SLAB_BYTES + 300_000;
/** What may be held beside the living bytes, however few they are: a slab being filled and free ones. */
const SPARE_BYTES = 4 * SLAB_BYTES;
const PUTS_PER_DRAIN = 256;
const COMPACTIONS_PER_DRAIN = 2;

/** Sometimes nothing, mostly small, sometimes above a quarter of a slab, sometimes above a slab. */
function anySize(random: Random): number {
  const chance = random();
  if (chance < 0.05) return 0;
  if (chance < 0.95) return wholeNumber(random, 0, 40_000);
  if (chance < 0.99) return wholeNumber(random, SLAB_BYTES / 4 - 2, SLAB_BYTES / 4 + 2);
  return wholeNumber(random, SLAB_BYTES - 2, LARGE_MAX);
}

function newTenant(): Located {
  return { slab: undefined, offset: 0, length: 0, position: 0 };
}

describe('slabs against a model', () => {
  for (const seed of [1, 2, 3, 4]) {
    test(`hold every byte through random puts, releases and compactions (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const twin = new SlabTwin(random, LARGE_MAX);
      let compactions = 0;
      for (let step = 0; step < 6000; step++) {
        // Waves: the population grows to about 400 and falls to about 100, over and over.
        const isGrowing = Math.floor(step / 500) % 2 === 0;
        if (twin.size < 2 || random() < (isGrowing ? 0.8 : 0.2)) twin.put(anySize(random));
        else twin.releaseAny();
        if (!twin.slabs.hasCompaction || random() > 0.2) continue;
        twin.slabs.compact();
        compactions++;
        twin.check();
      }
      assert.ok(compactions > 20, `only ${compactions} compactions: the test does not test much`);
      twin.check();
      while (twin.size > 0) twin.releaseAny();
      while (twin.slabs.hasCompaction) twin.slabs.compact();
      assert.equal(twin.slabs.liveBytes, 0);
      assert.ok(twin.slabs.heldBytes <= SPARE_BYTES, `${twin.slabs.heldBytes} bytes held for nothing`);
    });
  }
});

interface Churn {
  readonly name: string;
  readonly population: number;
  readonly sizeMin: number;
  readonly sizeMax: number;
}

/** Replaces random tenants until 20x the living bytes went through; returns the highest held / living. */
function churn({ population, sizeMin, sizeMax }: Churn, random: Random): { peakShare: number; slabs: Slabs } {
  const slabs = new Slabs();
  const source = Buffer.alloc(sizeMax);
  const tenants: Located[] = [];
  let peakShare = 0;
  for (let puts = 0; puts < population * 21; puts++) {
    const tenant = newTenant();
    slabs.put(tenant, source, 0, wholeNumber(random, sizeMin, sizeMax));
    if (tenants.length < population) {
      tenants.push(tenant);
    } else {
      const at = wholeNumber(random, 0, population - 1);
      const old = tenants[at];
      assert.ok(old);
      slabs.release(old);
      tenants[at] = tenant;
    }
    if (puts % PUTS_PER_DRAIN !== 0) continue;
    for (let turn = 0; turn < COMPACTIONS_PER_DRAIN && slabs.hasCompaction; turn++) slabs.compact();
    if (tenants.length < population) continue;
    peakShare = Math.max(peakShare, (slabs.heldBytes - SPARE_BYTES) / slabs.liveBytes);
  }
  return { peakShare, slabs };
}

describe('random churn of 20x the living bytes', () => {
  const cases: readonly Churn[] = [
    { name: 'objects of 1 to 9 KB', population: 12_000, sizeMin: 1000, sizeMax: 9000 },
    { name: 'tiny objects', population: 40_000, sizeMin: 100, sizeMax: 500 },
    { name: 'objects of 20 to 60 KB', population: 1500, sizeMin: 20_000, sizeMax: 60_000 },
    { name: 'objects around a quarter of a slab', population: 120, sizeMin: 400_000, sizeMax: 650_000 },
  ];
  for (const each of cases) {
    test(`holds at most 1.5x the living bytes: ${each.name}`, () => {
      const { peakShare } = churn(each, seededRandom(42));
      assert.ok(peakShare <= 1.5, `${peakShare.toFixed(2)}x`);
    });
  }
});

describe('releasing', () => {
  test('twice is refused, and the bytes are not given away twice', () => {
    const slabs = new Slabs();
    const tenant = newTenant();
    slabs.put(tenant, Buffer.from('once'), 0, 4);
    slabs.release(tenant);
    assert.throws(() => slabs.release(tenant), { code: 'ERR_KUBELOOM_ASSERTION' });
    assert.equal(slabs.liveBytes, 0);
  });

  test('an empty object keeps its place: the slab is not used again under it', () => {
    const slabs = new Slabs();
    const source = Buffer.alloc(SLAB_BYTES / 8);
    const empty = newTenant();
    slabs.put(empty, source, 0, 0);
    const others = Array.from({ length: 8 * 3 }, newTenant);
    for (const other of others) slabs.put(other, source, 0, source.length);
    for (const other of others) slabs.release(other);
    const later = Array.from({ length: 8 * 3 }, newTenant);
    for (const tenant of later) slabs.put(tenant, source, 0, source.length);
    slabs.release(empty);
    for (const tenant of later) assert.equal(tenant.slab?.occupants[tenant.position], tenant);
  });

  test('the last tenant of a slab that waits for compaction frees it at once', () => {
    const slabs = new Slabs();
    const source = Buffer.alloc(SLAB_BYTES / 8);
    const tenants = Array.from({ length: 8 * 40 }, newTenant);
    for (const tenant of tenants) slabs.put(tenant, source, 0, source.length);
    // No compaction runs: a process may merge at full rate for a long time.
    for (const tenant of tenants) slabs.release(tenant);
    assert.ok(slabs.heldBytes <= SPARE_BYTES, `${slabs.heldBytes} bytes held for nothing`);
    assert.equal(slabs.hasCompaction, false);
  });
});
