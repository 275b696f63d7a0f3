/** The table of keys beside a Map that does the same. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';

import { NONE, NumberColumns } from '../../../../src/replica/store/columns.ts';
import { SlotsByKey } from '../../../../src/replica/store/slots-by-key.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';

/** A table over slots whose keys are in an array. */
class Scene {
  readonly #keys: string[] = [];
  readonly #links: NumberColumns = new NumberColumns(2);
  readonly table: SlotsByKey = new SlotsByKey({ links: this.#links, hash: 0, next: 1 }, (slot) => {
    return this.#keys[slot] ?? '';
  });

  add(key: string, slot: number): void {
    this.#links.reserve(slot);
    this.#keys[slot] = key;
    this.table.add(key, slot);
  }
}

describe('slots by key', () => {
  test('are what a Map has, while keys come and go', () => {
    const random = seededRandom(1);
    const scene = new Scene();
    const model = new Map<string, number>();
    const free = Array.from({ length: 3000 }, (_, slot) => slot);
    for (let step = 0; step < 30_000; step++) {
      const key = `default/web-${wholeNumber(random, 0, 4000)}`;
      const slot = model.get(key) ?? NONE;
      assert.equal(scene.table.get(key), slot);
      const isAdded = random() < 0.7;
      const vacant = slot === NONE && isAdded ? free.shift() : undefined;
      if (vacant !== undefined) {
        scene.add(key, vacant);
        model.set(key, vacant);
      } else if (slot !== NONE && !isAdded) {
        scene.table.remove(slot);
        model.delete(key);
        free.push(slot);
      }
    }
    assert.ok(model.size > 1000, `${model.size} keys`);
    for (const [key, slot] of model) assert.equal(scene.table.get(key), slot);
  });

  test('tell keys apart that differ in one code unit, ASCII or not', () => {
    const scene = new Scene();
    const keys = [
      '',
      'a',
      'a/b',
      'ab',
      'a/b\0',
      '\0',
      'é',
      'è',
      'ĩ',
      'i',
      '名/字',
      '名/宇',
      `${'x'.repeat(600)}/ĩ`,
    ];
    keys.push(`${'x'.repeat(600)}/i`);
    for (const [slot, key] of keys.entries()) {
      assert.equal(scene.table.get(key), NONE, key);
      scene.add(key, slot);
    }
    for (const [slot, key] of keys.entries()) assert.equal(scene.table.get(key), slot, key);
  });

  test('refuse to remove a slot that they do not have', () => {
    const scene = new Scene();
    scene.add('a', 0);
    scene.add('b', 1);
    scene.table.remove(0);
    assert.throws(() => scene.table.remove(0), { code: 'ERR_KUBELOOM_ASSERTION' });
    assert.equal(scene.table.get('b'), 1);
  });
});
