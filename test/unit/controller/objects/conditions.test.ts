/** Conditions: their places, and the times of their transitions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setCondition } from '../../../../src/controller/index.ts';

const FIRST = new Date('2026-01-02T03:04:05.678Z');
const LATER = new Date('2026-01-02T04:00:00Z');
const DONE = { type: 'Other', status: 'True', reason: 'Done', message: '' };
const OTHER = { ...DONE, lastTransitionTime: '2025-01-01T00:00:00Z' };
const READY = { type: 'Ready', status: 'False' as const, reason: 'Starting', message: 'one of two' };

describe('setCondition', () => {
  const first = setCondition([OTHER], READY, FIRST);

  it('adds a condition behind the others, with the time in whole seconds', () => {
    assert.deepEqual(first, [OTHER, { ...READY, lastTransitionTime: '2026-01-02T03:04:05Z' }]);
    assert.deepEqual(setCondition(undefined, READY, FIRST), first.slice(1));
  });

  it('changes the time only with the status', () => {
    const explained = setCondition(first, { ...READY, message: 'two of two' }, LATER);
    assert.deepEqual(explained, [OTHER, { ...first[1], message: 'two of two' }]);
    const ready = setCondition(explained, { ...READY, status: 'True' }, LATER);
    const later = { ...READY, status: 'True', lastTransitionTime: '2026-01-02T04:00:00Z' };
    assert.deepEqual(ready, [OTHER, later]);
  });

  it('returns the same array when nothing changes', () => {
    assert.equal(setCondition(first, READY, LATER), first);
  });

  it('keeps members that the new condition does not have', () => {
    const observed = setCondition([], { ...READY, observedGeneration: 4 }, FIRST);
    assert.equal(setCondition(observed, { ...READY, status: 'True' }, LATER)[0]?.observedGeneration, 4);
  });
});
