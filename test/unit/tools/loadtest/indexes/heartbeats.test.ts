/** Presence of other indexes, counted in own beats. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Heartbeats, SILENT_BEATS } from '../../../../../src/tools/loadtest/indexes/heartbeats.ts';

function beats(heartbeats: Heartbeats, count: number, from = 1): void {
  for (let beat = from; beat < from + count; beat++) heartbeats.seen('own', String(beat));
}

describe('the heartbeats of indexes', () => {
  it('misses an index after as many own beats without a sign of it, and again counts from its next sign', () => {
    const heartbeats = new Heartbeats('own');
    heartbeats.seen('other', '1');
    beats(heartbeats, SILENT_BEATS);
    assert.equal(heartbeats.isSilent('other'), false);
    beats(heartbeats, 1, SILENT_BEATS + 1);
    assert.equal(heartbeats.isSilent('other'), true);
    heartbeats.seen('other', '2');
    assert.equal(heartbeats.isSilent('other'), false);
  });

  it('misses an index that never came', () => {
    const heartbeats = new Heartbeats('own');
    beats(heartbeats, SILENT_BEATS + 1);
    assert.equal(heartbeats.isSilent('other'), true);
  });

  it('misses no index while the server does not answer, and counts no own change between two beats', () => {
    const heartbeats = new Heartbeats('own');
    heartbeats.seen('other', '1');
    for (let change = 0; change <= SILENT_BEATS; change++) heartbeats.seen('own', '1');
    assert.equal(heartbeats.isSilent('other'), false);
  });
});
