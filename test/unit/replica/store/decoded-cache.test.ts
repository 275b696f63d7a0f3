/** The cache of parsed objects: bounded at every moment, first in, first out. */
import { beforeEach, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { DecodedCache } from '../../../../src/replica/store/decoded-cache.ts';
import type { Forgettable, Rereadable } from '../../../../src/replica/store/decoded-cache.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';

let forgotten: number[];
beforeEach(() => (forgotten = []));

/** Returns a holder that records when it must forget. */
function holder(id: number): Forgettable {
  return { forgetDecoded: () => forgotten.push(id) };
}

class Lasting implements Rereadable {
  forgottenAtKiB = 0;
  readonly #cache: DecodedCache;
  readonly #id: number;

  constructor(cache: DecodedCache, id: number) {
    this.#cache = cache;
    this.#id = id;
  }

  forgetDecoded(): void {
    this.forgottenAtKiB = this.#cache.parsedKiB;
    forgotten.push(this.#id);
  }
}

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

describe('the cache of parsed objects', () => {
  test('evicts in the order of insertion, no more than it must, and never exceeds its bound', () => {
    const random = seededRandom(9);
    const bound = 10_000;
    const cache = new DecodedCache(bound);
    const costs: number[] = [];
    // Thousands, so that the queue inside is cut off in between.
    for (let id = 0; id < 20_000; id++) {
      const cost = wholeNumber(random, 0, 200);
      costs.push(cost);
      cache.remember(holder(id), cost);
      const costBytes = costs.slice(forgotten.length).reduce((sum, each) => sum + each, 0);
      assert.equal(cache.costBytes, costBytes);
      assert.ok(costBytes <= bound);
      const lastForgotten = costs[forgotten.length - 1];
      if (lastForgotten !== undefined) assert.ok(costBytes + lastForgotten + cost > bound);
    }
    assert.deepEqual(forgotten, numbers(0, forgotten.length - 1));
    assert.ok(forgotten.length > 15_000);
  });

  test('evicts an object larger than the whole cache at once, and is empty after that', () => {
    const cache = new DecodedCache(100);
    cache.remember(holder(1), 60);
    cache.remember(holder(2), 101);
    assert.deepEqual([forgotten, cache.costBytes], [[1, 2], 0]);
    cache.remember(holder(3), 100);
    assert.deepEqual(forgotten, [1, 2]);
  });

  test('keeps little for borrowers, but the newest in any case', () => {
    const cache = new DecodedCache(2 ** 26);
    for (const id of numbers(1, 5)) cache.rememberBriefly(holder(id), 2 ** 17);
    assert.deepEqual(forgotten, numbers(1, 3));
    cache.rememberBriefly(holder(6), 2 ** 22);
    assert.deepEqual(forgotten, numbers(1, 5));
    cache.rememberBriefly(holder(7), 1);
    assert.deepEqual(forgotten, numbers(1, 6));
    cache.remember(holder(8), 2 ** 25);
    assert.equal(cache.costBytes, 2 ** 25 + 1);
  });

  test('keeps metadata for later states only in free room, and replaces only a part of it when there is too much', () => {
    const cache = new DecodedCache(100);
    for (const id of numbers(1, 10)) cache.rememberShared(holder(id), 10);
    assert.deepEqual(forgotten, []);
    for (const id of numbers(11, 25)) cache.rememberShared(holder(id), 10);
    assert.deepEqual(forgotten, numbers(11, 25));
    cache.rememberShared(holder(26), 10);
    assert.deepEqual(forgotten.splice(0).at(-1), 1, 'one in sixteen replaces the oldest');
    cache.remember(holder(30), 95);
    assert.deepEqual(forgotten.splice(0), [...numbers(2, 10), 26], 'evicted before retained objects');
    for (const id of numbers(31, 46)) cache.rememberShared(holder(id), 10);
    assert.deepEqual([forgotten.length, cache.costBytes], [16, 95]);
  });

  test('keeps an object of a lister only when it is parsed again before more than the cache can hold', () => {
    const cache = new DecodedCache(2 ** 21);
    const objects = numbers(0, 31).map((id) => new Lasting(cache, id));
    // Each is a sixteenth of the cache, so the loop reads twice as much as it can hold.
    const loop = (): void => objects.forEach((object) => cache.rememberRead(object, 2 ** 17));
    for (const _round of numbers(1, 3)) loop();
    assert.deepEqual(forgotten, [...numbers(0, 31), ...numbers(0, 31), ...numbers(0, 29)]);
    assert.equal(cache.costBytes, 2 ** 18, 'the last two, briefly');
    const hot = objects.slice(0, 8);
    for (const object of hot) cache.rememberRead(object, 2 ** 17);
    forgotten = [];
    for (const object of hot.slice(0, 6)) cache.rememberRead(object, 2 ** 17);
    assert.deepEqual(forgotten, [], 'parsed again soon: they stay');
    assert.equal(cache.costBytes, 2 ** 18 + 6 * 2 ** 17);
    for (const object of objects.slice(8)) cache.rememberRead(object, 2 ** 17);
    assert.ok(!forgotten.some((id) => id < 6), 'a loop evicts nothing that stays');
  });

  test('counts several reads of an object, as of its metadata and then of all of it, as one', () => {
    const cache = new DecodedCache(2 ** 21);
    const object = new Lasting(cache, 1);
    for (const _read of numbers(1, 3)) cache.rememberRead(object, 2 ** 10);
    for (const id of numbers(2, 4)) cache.rememberRead(new Lasting(cache, id), 2 ** 17);
    assert.ok(forgotten.includes(1));
  });

  test('of no bytes keeps nothing', () => {
    const cache = new DecodedCache(0);
    cache.rememberBriefly(holder(1), 1);
    cache.remember(holder(2), 1);
    for (const id of numbers(3, 20)) cache.rememberShared(holder(id), 1);
    assert.deepEqual([forgotten.length, cache.costBytes], [20, 0]);
  });
});
