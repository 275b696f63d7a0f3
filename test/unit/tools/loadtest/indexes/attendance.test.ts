/** Presence of other indexes, counted in own beats. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Attendance, SILENT_BEATS } from '../../../../../src/tools/loadtest/indexes/attendance.ts';

function beats(attendance: Attendance, count: number, from = 1): void {
  for (let beat = from; beat < from + count; beat++) attendance.seen('own', String(beat));
}

describe('the attendance of indexes', () => {
  it('misses an index after as many own beats without a sign of it, and again counts from its next sign', () => {
    const attendance = new Attendance('own');
    attendance.seen('other', '1');
    beats(attendance, SILENT_BEATS);
    assert.equal(attendance.isSilent('other'), false);
    beats(attendance, 1, SILENT_BEATS + 1);
    assert.equal(attendance.isSilent('other'), true);
    attendance.seen('other', '2');
    assert.equal(attendance.isSilent('other'), false);
  });

  it('misses an index that never came', () => {
    const attendance = new Attendance('own');
    beats(attendance, SILENT_BEATS + 1);
    assert.equal(attendance.isSilent('other'), true);
  });

  it('misses no index while the server does not answer, and counts no own change between two beats', () => {
    const attendance = new Attendance('own');
    attendance.seen('other', '1');
    for (let change = 0; change <= SILENT_BEATS; change++) attendance.seen('own', '1');
    assert.equal(attendance.isSilent('other'), false);
  });
});
