/**
 * Slabs: nothing is ever overwritten or lost while it lives, and what is dead is used again.
 */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import type { Random } from '../../src/clock.ts';
import { chunkBytesFor } from '../../src/store/size-class.ts';
import { SLAB_BYTES, SlabMemory } from '../../src/store/slab-memory.ts';
import { Slabs } from '../../src/store/slabs.ts';
import type { Located } from '../../src/store/slabs.ts';
import { seededRandom, wholeNumber } from '../ring/random.ts';
import { SlabTwin } from './slab-twin.ts';

const LARGE_MAX = SLAB_BYTES + 300_000;
const PUTS_PER_DRAIN = 256;
const COMPACTIONS_PER_DRAIN = 2;

/** Sometimes nothing, mostly small and much alike, sometimes above a quarter of a slab, sometimes above a slab. */
function anySize(random: Random): number {
  const chance = random();
  if (chance < 0.05) return 0;
  if (chance < 0.5) return wholeNumber(random, 20_000, 21_000);
  if (chance < 0.95) return wholeNumber(random, 0, 40_000);
  if (chance < 0.99) return wholeNumber(random, SLAB_BYTES / 4 - 2, SLAB_BYTES / 4 + 2);
  return wholeNumber(random, SLAB_BYTES - 2, LARGE_MAX);
}

function newTenant(): Located {
  return { slab: undefined, offset: 0, storedBytes: 0 };
}

describe('slabs against a model', () => {
  for (const seed of [1, 2, 3, 4]) {
    test(`hold every byte through random puts, releases and compactions (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const twin = new SlabTwin(random, LARGE_MAX);
      let compactions = 0;
      for (let step = 0; step < 6000; step++) {
        // Waves: the population grows to about 700 and falls to about 100, over and over.
        const isGrowing = Math.floor(step / 1000) % 2 === 0;
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
      assert.equal(twin.slabs.heldBytes, 0);
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
    peakShare = Math.max(peakShare, slabs.heldBytes / slabs.liveBytes);
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
    test(`holds at most 1.3x the living bytes: ${each.name}`, () => {
      const { peakShare } = churn(each, seededRandom(42));
      assert.ok(peakShare <= 1.3, `${peakShare.toFixed(2)}x`);
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

  test('an empty object keeps its chunk: nobody else gets it', () => {
    const slabs = new Slabs();
    const empties = Array.from({ length: 3 }, newTenant);
    for (const empty of empties) slabs.put(empty, Buffer.alloc(1), 0, 0);
    const places = empties.map(({ slab, offset }) => `${slab?.occupants.length} ${offset}`);
    assert.equal(new Set(places).size, 3);
  });

  test('what nobody needs any more goes back to the system, also if nobody compacts', () => {
    const slabs = new Slabs();
    const source = Buffer.alloc(SLAB_BYTES / 8);
    const tenants = Array.from({ length: 8 * 40 }, newTenant);
    for (const tenant of tenants) slabs.put(tenant, source, 0, source.length);
    for (const tenant of tenants) slabs.release(tenant);
    assert.equal(slabs.heldBytes, 0);
  });
});

describe('compaction', () => {
  /** 1,000 objects of a size are left of 10,000, at random. */
  function shrunk(): Slabs {
    const random = seededRandom(7);
    const slabs = new Slabs();
    const tenants = Array.from({ length: 10_000 }, newTenant);
    for (const tenant of tenants) slabs.put(tenant, Buffer.alloc(5000), 0, 5000);
    while (tenants.length > 1000) {
      const at = wholeNumber(random, 0, tenants.length - 1);
      const tenant = tenants[at];
      const last = tenants.pop();
      assert.ok(tenant && last);
      if (tenant !== last) tenants[at] = last;
      slabs.release(tenant);
    }
    return slabs;
  }

  test('gives back what is left when most objects are gone', () => {
    const slabs = shrunk();
    const before = slabs.heldBytes;
    let movedBytes = 0;
    while (slabs.hasCompaction) movedBytes += slabs.compact();
    assert.ok(before > 40_000_000, `${before} bytes held before`);
    assert.ok(slabs.heldBytes < 1.3 * slabs.liveBytes, `${slabs.heldBytes} bytes held after`);
    assert.ok(movedBytes < 2 * slabs.liveBytes, `${movedBytes} bytes moved`);
  });

  test('does not move anybody while objects of about the same length come and go', () => {
    const random = seededRandom(11);
    const slabs = new Slabs();
    const tenants = Array.from({ length: 5000 }, newTenant);
    for (const tenant of tenants) slabs.put(tenant, Buffer.alloc(5000), 0, wholeNumber(random, 4900, 5000));
    for (let change = 0; change < 100_000; change++) {
      const at = wholeNumber(random, 0, tenants.length - 1);
      const [old, next] = [tenants[at], newTenant()];
      assert.ok(old);
      slabs.put(next, Buffer.alloc(5000), 0, old.storedBytes);
      slabs.release(old);
      tenants[at] = next;
      assert.ok(!slabs.hasCompaction);
    }
    assert.ok(slabs.heldBytes < 1.1 * slabs.liveBytes, `${slabs.heldBytes / slabs.liveBytes}x`);
  });
});

test('a chunk is at most a sixteenth longer than what is asked of it', () => {
  for (let bytes = 1000; bytes < 2 ** 25; bytes = Math.ceil(bytes * 1.0007)) {
    const chunkBytes = chunkBytesFor(bytes);
    assert.ok(chunkBytes >= bytes && chunkBytes <= bytes * (1 + 1 / 16), `${chunkBytes} for ${bytes}`);
    assert.equal(chunkBytesFor(chunkBytes), chunkBytes);
  }
});

describe('memory of slabs', () => {
  test('is used again, and no more of it is kept than 32 slabs', () => {
    const memory = new SlabMemory();
    const taken = Array.from({ length: 40 }, () => memory.take(SLAB_BYTES - 100));
    assert.equal(new Set(taken.map(({ buffer }) => buffer)).size, 40);
    for (const slab of taken) {
      memory.give(slab);
      assert.ok(memory.freeBytes <= 32 * SLAB_BYTES);
    }
    const { freeBytes } = memory;
    assert.ok(freeBytes >= 16 * SLAB_BYTES);
    const again = memory.take(SLAB_BYTES);
    assert.ok(taken.some(({ buffer }) => buffer === again.buffer));
    assert.equal(memory.freeBytes, freeBytes - SLAB_BYTES);
  });

  test('is all given back when nobody has taken any since the last time that somebody looked', () => {
    const memory = new SlabMemory();
    const taken = Array.from({ length: 30 }, () => memory.take(SLAB_BYTES));
    memory.tidy();
    for (const slab of taken) memory.give(slab);
    assert.equal(memory.freeBytes, 30 * SLAB_BYTES);
    memory.take(SLAB_BYTES);
    memory.tidy();
    assert.equal(memory.freeBytes, 29 * SLAB_BYTES, 'somebody took one: more may be wanted');
    memory.tidy();
    assert.equal(memory.freeBytes, 0);
  });

  test('is mapped, not from malloc: what V8 gives back goes to the system', () => {
    const { buffer } = new SlabMemory().take(SLAB_BYTES);
    assert.ok(buffer instanceof SharedArrayBuffer && buffer.growable);
    assert.equal(buffer.maxByteLength, SLAB_BYTES);
  });

  test('of short and of very long slabs is the collector’s business', () => {
    const memory = new SlabMemory();
    for (const bytes of [1, SLAB_BYTES / 2, SLAB_BYTES + 1]) {
      const slab = memory.take(bytes);
      assert.equal(slab.length, bytes);
      assert.ok(slab.buffer instanceof ArrayBuffer);
      memory.give(slab);
    }
    assert.equal(memory.freeBytes, 0);
  });

  test('that slabs do not need any more serves those of other sizes', () => {
    const memory = new SlabMemory();
    const slabs = new Slabs(memory);
    const fill = (length: number): Located[] =>
      Array.from({ length: 2000 }, () => {
        const tenant = newTenant();
        slabs.put(tenant, Buffer.alloc(length), 0, length);
        return tenant;
      });
    for (const tenant of fill(4000)) slabs.release(tenant);
    const { freeBytes } = memory;
    assert.ok(freeBytes > 0 && slabs.heldBytes === 0);
    fill(5000);
    assert.ok(memory.freeBytes < freeBytes);
  });
});
