/** controller-runtime's predicates: the changes that each of them selects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
} from '../../../src/controller/index.ts';
import type { ObjectChange } from '../../../src/controller/index.ts';
import { state, update } from './changes.ts';

const ADDED: ObjectChange = { type: 'add', object: state(), isInInitialList: false };
const DELETED: ObjectChange = { type: 'delete', object: state() };

for (const [predicate, field] of [
  [generationChanged, 'generation'],
  [resourceVersionChanged, 'resourceVersion'],
] as const) {
  describe(predicate.name, () => {
    it(`selects updates of the ${field}, additions and deletions`, () => {
      assert.ok(predicate(update({ [field]: 1 }, { [field]: 2 })));
      assert.ok(!predicate(update({ [field]: 1 }, { [field]: 1, labels: { a: 'b' } })));
      assert.ok(!predicate(update({}, {})));
      assert.ok(predicate(ADDED) && predicate(DELETED));
    });
  });
}

const labels = (before: object, after: object): ObjectChange => update({ labels: before }, { labels: after });
const annotations = (before: object, after: object): ObjectChange =>
  update({ metadata: { annotations: before } }, { metadata: { annotations: after } });

for (const [predicate, change] of [
  [labelsChanged, labels],
  [annotationsChanged, annotations],
] as const) {
  describe(predicate.name, () => {
    it('selects updates with a changed, an added and a removed value, additions and deletions', () => {
      assert.ok(predicate(change({ a: '1' }, { a: '2' })));
      assert.ok(predicate(change({ a: '1' }, { a: '1', b: '1' })));
      assert.ok(predicate(change({ a: '1', b: '1' }, { a: '1' })));
      assert.ok(predicate(change({ a: '1' }, { b: '1' })));
      assert.ok(predicate(change({}, { toString: 'own' })));
      assert.ok(!predicate(change({ a: '1', b: '2' }, { b: '2', a: '1' })));
      assert.ok(!predicate(change({}, {})));
      assert.ok(predicate(ADDED) && predicate(DELETED));
    });
  });
}

describe('combined predicates', () => {
  const yes = (): boolean => true;
  const no = (): boolean => false;

  it('select what all, one or none of them select', () => {
    assert.deepEqual([and(yes, yes)(ADDED), and(yes, no)(ADDED), and()(ADDED)], [true, false, true]);
    assert.deepEqual([or(no, yes)(ADDED), or(no, no)(ADDED), or()(ADDED)], [true, false, false]);
    assert.deepEqual([not(yes)(ADDED), not(no)(ADDED)], [false, true]);
  });

  it('also negate additions and deletions', () => {
    assert.ok(!not(generationChanged)(ADDED) && !not(generationChanged)(DELETED));
  });
});
