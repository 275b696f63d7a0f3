/** Slabs: an allocation is never overwritten or lost, and released chunks are reused. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { Random } from '../../../../src/base/clock.ts';
import { SLAB_BYTES, SlabMemory } from '../../../../src/replica/store/store-memory.ts';
import { EntryTable } from '../../../../src/replica/store/entry-table.ts';
import { Slabs, chunkBytesFor } from '../../../../src/replica/store/slabs.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';
import { SlabTwin, newRow } from './slab-twin.ts';

const LARGE_MAX = SLAB_BYTES + 300_000;

/** Returns a size: sometimes 0, mostly small and similar, sometimes above a quarter of a slab or above a whole slab. */
function anySize(random: Random): number {
  const chance = random();
  if (chance < 0.05) return 0;
  if (chance < 0.5) return wholeNumber(random, 20_000, 21_000);
  if (chance < 0.95) return wholeNumber(random, 0, 40_000);
  if (chance < 0.99) return wholeNumber(random, SLAB_BYTES / 4 - 2, SLAB_BYTES / 4 + 2);
  return wholeNumber(random, SLAB_BYTES - 2, LARGE_MAX);
}

describe('slabs against a model', () => {
  for (const seed of [1, 2, 3, 4]) {
    test(`hold every byte through random puts, releases and compactions (seed ${seed})`, () => {
      const random = seededRandom(seed);
      const twin = new SlabTwin(random, LARGE_MAX);
      let compactions = 0;
      for (let step = 0; step < 6000; step++) {
        // Waves: the number of allocations grows to about 700 and falls to about 100, repeatedly.
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

describe('releasing', () => {
  test('twice is refused, and frees the bytes once', () => {
    const table = new EntryTable();
    const slabs = new Slabs({ table });
    const row = newRow(table);
    slabs.put(row, Buffer.from('once'), 0, 4);
    slabs.release(row);
    assert.throws(() => slabs.release(row), { code: 'ERR_KUBELOOM_ASSERTION' });
    assert.equal(slabs.liveBytes, 0);
  });

  test('does not give the chunk of an empty object to another', () => {
    const table = new EntryTable();
    const slabs = new Slabs({ table });
    const empties = Array.from({ length: 3 }, () => newRow(table));
    for (const empty of empties) slabs.put(empty, Buffer.alloc(1), 0, 0);
    const places = empties.map((row) => `${table.slabOf(row)} ${table.offsetOf(row)}`);
    assert.equal(new Set(places).size, 3);
  });
});

describe('compaction', () => {
  test('frees the remaining memory when most objects are gone', () => {
    const twin = new SlabTwin(seededRandom(7), 5000);
    const { slabs } = twin;
    while (twin.size < 10_000) twin.put(5000);
    while (twin.size > 1000) twin.releaseAny();
    const before = slabs.heldBytes;
    let movedBytes = 0;
    while (slabs.hasCompaction) movedBytes += slabs.compact();
    assert.ok(before > 40_000_000, `${before} bytes held before`);
    assert.ok(slabs.heldBytes < 1.3 * slabs.liveBytes, `${slabs.heldBytes} bytes held after`);
    assert.ok(movedBytes < 2 * slabs.liveBytes, `${movedBytes} bytes moved`);
    twin.check();
  });

  test('moves nothing while objects of about the same length come and go', () => {
    const random = seededRandom(11);
    const twin = new SlabTwin(random, 5000);
    const { slabs } = twin;
    while (twin.size < 5000) twin.put(wholeNumber(random, 4900, 5000));
    for (let change = 0; change < 100_000; change++) {
      twin.put(twin.releaseAny());
      assert.ok(!slabs.hasCompaction);
    }
    assert.ok(slabs.heldBytes < 1.1 * slabs.liveBytes, `${slabs.heldBytes / slabs.liveBytes}x`);
  });
});

test('a chunk is at most a sixteenth longer than requested', () => {
  for (let bytes = 1000; bytes < 2 ** 25; bytes = Math.ceil(bytes * 1.0007)) {
    const chunkBytes = chunkBytesFor(bytes);
    assert.ok(chunkBytes >= bytes && chunkBytes <= bytes * (1 + 1 / 16), `${chunkBytes} for ${bytes}`);
    assert.equal(chunkBytesFor(chunkBytes), chunkBytes);
  }
});

describe('memory of slabs', () => {
  test('is reused, and at most 32 free slabs are kept', () => {
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

  test('is all freed when none was taken between two calls of tidy()', () => {
    const memory = new SlabMemory();
    const taken = Array.from({ length: 30 }, () => memory.take(SLAB_BYTES));
    memory.tidy();
    for (const slab of taken) memory.give(slab);
    assert.equal(memory.freeBytes, 30 * SLAB_BYTES);
    memory.take(SLAB_BYTES);
    memory.tidy();
    assert.equal(memory.freeBytes, 29 * SLAB_BYTES, 'one was taken: more may be needed');
    memory.tidy();
    assert.equal(memory.freeBytes, 0);
  });

  test('is mapped, not from malloc: what V8 frees returns to the system', () => {
    const { buffer } = new SlabMemory().take(SLAB_BYTES);
    assert.ok(buffer instanceof SharedArrayBuffer && buffer.growable);
    assert.equal(buffer.maxByteLength, SLAB_BYTES);
  });

  test('of short and of very long slabs is left to the garbage collector', () => {
    const memory = new SlabMemory();
    for (const bytes of [1, SLAB_BYTES / 2, SLAB_BYTES + 1]) {
      const slab = memory.take(bytes);
      assert.equal(slab.length, bytes);
      assert.ok(slab.buffer instanceof ArrayBuffer);
      memory.give(slab);
    }
    assert.equal(memory.freeBytes, 0);
  });

  test('that slabs no longer need serves slabs of other sizes', () => {
    const memory = new SlabMemory();
    const table = new EntryTable();
    const slabs = new Slabs({ table, memory });
    const fill = (length: number): number[] =>
      Array.from({ length: 2000 }, () => {
        const row = newRow(table);
        slabs.put(row, Buffer.alloc(length), 0, length);
        return row;
      });
    for (const row of fill(4000)) slabs.release(row);
    const { freeBytes } = memory;
    assert.ok(freeBytes > 0 && slabs.heldBytes === 0);
    fill(5000);
    assert.ok(memory.freeBytes < freeBytes);
  });
});
