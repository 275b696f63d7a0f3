/** Answers of tombstones of plain objects and of entries. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Mark, resourceVersionOf } from '../../../src/kube/meta-shape.ts';
import { isTombstone, tombstone } from '../../../src/kube/tombstone.ts';

const METADATA = { name: 'web-0', uid: 'u1', labels: { app: 'web' }, resourceVersion: '7' };

describe('a tombstone', () => {
  test('answers metadata, labels and uid of the last known object', () => {
    const dead = tombstone('default/web-0', { metadata: METADATA, spec: {} });
    assert.equal(dead.metadata, METADATA);
    assert.equal(dead.labels, METADATA.labels);
    assert.equal(dead.uid, 'u1');
  });

  test('answers with those of an entry without reading its object', () => {
    const entry = {
      [Mark.Entry]: true,
      key: 'default/web-0',
      uid: 'u1',
      labels: METADATA.labels,
      get metadata(): never {
        throw new Error('expired');
      },
    };
    const dead = tombstone(entry.key, entry);
    assert.deepEqual([dead.labels, dead.uid], [METADATA.labels, 'u1']);
    assert.throws(() => dead.metadata, /expired/);
  });

  test('has no metadata, no labels and no uid when there is no last state, or it is not an object', () => {
    for (const last of [undefined, 'text', {}, { metadata: { labels: null, uid: 7 } }]) {
      const dead = tombstone<unknown>('default/web-0', last);
      assert.deepEqual([dead.labels, dead.uid], [{}, '']);
      assert.equal(isTombstone(dead), true);
    }
    assert.equal(tombstone('default/web-0', undefined).metadata, undefined);
  });

  test('lends no version to a store: the object may have changed since', () => {
    assert.equal(resourceVersionOf(tombstone('default/web-0', { metadata: METADATA })), undefined);
  });
});
