/** The split map compared with a `Map`. */
import { test } from 'node:test';
import assert from 'node:assert/strict';

import { SplitMap } from '../../../../src/replica/deliver/split-map.ts';
import { seededRandom } from '../../shared/ring/random.ts';

test('the split map has the same content as a map, with keys of any length', () => {
  const random = seededRandom(1);
  const split = new SplitMap<number>();
  const model = new Map<string, number>();
  const keys = Array.from({ length: 3000 }, (_, index) => `${'n'.repeat(index % 40)}/${index}`);
  keys.push('', 'a', '\u{1F9F5}');
  for (let step = 0; step < 30_000; step++) {
    const key = keys[Math.floor(random() * keys.length)] ?? '';
    assert.equal(split.get(key), model.get(key));
    if (random() < 0.6) {
      split.set(key, step);
      model.set(key, step);
    } else {
      split.delete(key);
      model.delete(key);
    }
  }
  for (const key of keys) assert.equal(split.get(key), model.get(key));
  split.clear();
  for (const key of keys) assert.equal(split.get(key), undefined);
});
