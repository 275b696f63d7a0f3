/** A split map is a Map, whatever part a key is in. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { SplitMap } from '../../../../src/replica/deliver/split-map.ts';

test('a split map has the last values set and not deleted', () => {
  const map = new SplitMap<number>();
  const keys = ['', 'a', ...Array.from({ length: 500 }, (_, index) => `default/web-${index}`)];
  for (const [index, key] of keys.entries()) {
    assert.equal(map.get(key), undefined);
    map.delete(key);
    map.set(key, -1);
    map.set(key, index);
  }
  for (const [index, key] of keys.entries()) if (index % 2 === 0) map.delete(key);
  for (const [index, key] of keys.entries()) assert.equal(map.get(key), index % 2 === 0 ? undefined : index);
});
