/** The latest keys of a Map that grows no further. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentMap } from '../../../../src/replica/store/extracted-fields.ts';

test('a map of recent keys has each of as many as it is made for', () => {
  const map = new RecentMap<number>(100);
  for (let key = 0; key < 1000; key++) {
    map.set(String(key), key);
    for (const at of [key, key - 50, key - 99])
      if (at >= 0 && key % 70 === 0) assert.equal(map.get(String(at)), at);
  }
});

test('a map of recent keys has the latest ones, and at most twice as many', () => {
  const map = new RecentMap<number>(100);
  for (let key = 0; key < 1000; key++) {
    map.set(String(key), key);
    map.set('set again', key);
    if (key % 50 === 0) assert.equal(map.get('read again') ?? 'unset', key === 0 ? 'unset' : 1);
    if (key === 0) map.set('read again', 1);
    assert.equal(map.get(String(key - 210)), undefined);
  }
  for (let key = 0; key < 3; key++) map.set(String(key), key);
  assert.deepEqual([map.get('0'), map.get('2'), map.get('set again')], [0, 2, 999]);
});
