/** The cache of parsed objects: bounded at every moment, first in, first out. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { DecodedCache } from '../../../../src/replica/store/decoded-cache.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';

class Holder {
  readonly id: number;
  readonly costBytes: number;
  readonly #forgotten: number[];

  constructor(id: number, costBytes: number, forgotten: number[]) {
    this.id = id;
    this.costBytes = costBytes;
    this.#forgotten = forgotten;
  }

  forgetDecoded(): void {
    this.#forgotten.push(this.id);
  }
}

describe('the cache of parsed objects', () => {
  test('evicts in the order of insertion, no more than it must, and never exceeds its bound', () => {
    const random = seededRandom(9);
    const forgotten: number[] = [];
    const bound = 10_000;
    const cache = new DecodedCache(bound);
    const holders: Holder[] = [];
    // Thousands, so that the queue inside is cut off in between.
    for (let id = 0; id < 20_000; id++) {
      const holder = new Holder(id, wholeNumber(random, 0, 200), forgotten);
      holders.push(holder);
      cache.remember(holder, holder.costBytes);
      const remembered = holders.slice(forgotten.length);
      const costBytes = remembered.reduce((sum, { costBytes }) => sum + costBytes, 0);
      assert.equal(cache.costBytes, costBytes);
      assert.ok(costBytes <= bound);
      const lastForgotten = holders[forgotten.length - 1];
      if (lastForgotten) assert.ok(costBytes + lastForgotten.costBytes + holder.costBytes > bound);
    }
    assert.deepEqual(
      forgotten,
      Array.from({ length: forgotten.length }, (_, id) => id),
    );
    assert.ok(forgotten.length > 15_000);
  });

  test('evicts at once an object larger than the whole cache, and is empty then', () => {
    const forgotten: number[] = [];
    const cache = new DecodedCache(100);
    cache.remember(new Holder(1, 60, forgotten), 60);
    cache.remember(new Holder(2, 101, forgotten), 101);
    assert.deepEqual(forgotten, [1, 2]);
    assert.equal(cache.costBytes, 0);
    cache.remember(new Holder(3, 100, forgotten), 100);
    assert.deepEqual(forgotten, [1, 2]);
  });

  test('keeps little for borrowers, but the newest in any case', () => {
    const forgotten: number[] = [];
    const cache = new DecodedCache(2 ** 26);
    for (let id = 1; id <= 5; id++) cache.rememberBriefly(new Holder(id, 2 ** 17, forgotten), 2 ** 17);
    assert.deepEqual(forgotten, [1, 2, 3]);
    cache.rememberBriefly(new Holder(6, 2 ** 22, forgotten), 2 ** 22);
    assert.deepEqual(forgotten, [1, 2, 3, 4, 5]);
    cache.rememberBriefly(new Holder(7, 1, forgotten), 1);
    assert.deepEqual(forgotten, [1, 2, 3, 4, 5, 6]);
    cache.remember(new Holder(8, 2 ** 25, forgotten), 2 ** 25);
    assert.equal(cache.costBytes, 2 ** 25 + 1);
  });

  test('keeps metadata for later states only in free room, and replaces only a part of it when there is too much', () => {
    const forgotten: number[] = [];
    const cache = new DecodedCache(100);
    for (let id = 1; id <= 10; id++) cache.rememberShared(new Holder(id, 10, forgotten), 10);
    assert.deepEqual(forgotten, []);
    for (let id = 11; id <= 25; id++) cache.rememberShared(new Holder(id, 10, forgotten), 10);
    assert.deepEqual(forgotten, [11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
    cache.rememberShared(new Holder(26, 10, forgotten), 10);
    assert.deepEqual(forgotten.splice(0).at(-1), 1, 'one in sixteen replaces the oldest');
    cache.remember(new Holder(30, 95, forgotten), 95);
    assert.deepEqual(
      forgotten.splice(0),
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 26],
      'shared metadata is evicted before retained objects',
    );
    for (let id = 31; id < 31 + 16; id++) cache.rememberShared(new Holder(id, 10, forgotten), 10);
    assert.equal(forgotten.length, 16);
    assert.equal(cache.costBytes, 95);
  });

  test('of no bytes keeps nothing', () => {
    const forgotten: number[] = [];
    const cache = new DecodedCache(0);
    cache.rememberBriefly(new Holder(1, 1, forgotten), 1);
    cache.remember(new Holder(2, 1, forgotten), 1);
    for (let id = 3; id <= 20; id++) cache.rememberShared(new Holder(id, 1, forgotten), 1);
    assert.equal(forgotten.length, 20);
    assert.equal(cache.costBytes, 0);
  });
});
