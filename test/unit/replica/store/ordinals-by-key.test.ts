/** The table of keys beside a Map that does the same. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { NO_ORDINAL, NumberColumns } from '../../../../src/replica/store/columns.ts';
import { OrdinalsByKey } from '../../../../src/replica/store/ordinals-by-key.ts';
import { seededRandom, wholeNumber } from '../../shared/ring/random.ts';

/** A table over ordinals whose keys are in an array. */
class Scene {
  readonly #keys: string[] = [];
  readonly #links: NumberColumns = new NumberColumns(2);
  readonly table: OrdinalsByKey = new OrdinalsByKey({ links: this.#links, hash: 0, next: 1 }, (ordinal) => {
    return this.#keys[ordinal] ?? '';
  });

  add(key: string, ordinal: number): void {
    this.#links.reserve(ordinal);
    this.#keys[ordinal] = key;
    this.table.add(key, ordinal);
  }
}

describe('ordinals by key', () => {
  test('equal the entries of a Map, while keys come and go', () => {
    const random = seededRandom(1);
    const scene = new Scene();
    const model = new Map<string, number>();
    const free = Array.from({ length: 3000 }, (_, ordinal) => ordinal);
    for (let step = 0; step < 30_000; step++) {
      const key = `default/web-${wholeNumber(random, 0, 4000)}`;
      const ordinal = model.get(key) ?? NO_ORDINAL;
      assert.equal(scene.table.get(key), ordinal);
      const isAdded = random() < 0.7;
      const vacant = ordinal === NO_ORDINAL && isAdded ? free.shift() : undefined;
      if (vacant !== undefined) {
        scene.add(key, vacant);
        model.set(key, vacant);
      } else if (ordinal !== NO_ORDINAL && !isAdded) {
        scene.table.remove(ordinal);
        model.delete(key);
        free.push(ordinal);
      }
    }
    assert.ok(model.size > 1000, `${model.size} keys`);
    for (const [key, ordinal] of model) assert.equal(scene.table.get(key), ordinal);
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
    for (const [ordinal, key] of keys.entries()) {
      assert.equal(scene.table.get(key), NO_ORDINAL, key);
      scene.add(key, ordinal);
    }
    for (const [ordinal, key] of keys.entries()) assert.equal(scene.table.get(key), ordinal, key);
  });

  test('refuse to remove an ordinal that they do not have', () => {
    const scene = new Scene();
    scene.add('a', 0);
    scene.add('b', 1);
    scene.table.remove(0);
    assert.throws(() => scene.table.remove(0), { code: 'ERR_KUBELOOM_ASSERTION' });
    assert.equal(scene.table.get('b'), 1);
  });
});
