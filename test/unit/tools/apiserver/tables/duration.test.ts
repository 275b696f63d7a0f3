/** Durations for people, at the limits between the units. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { humanDuration, since } from '../../../../../src/tools/apiserver/tables/duration.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

describe('a duration for people', () => {
  const cases: readonly (readonly [number, string])[] = [
    [-5 * SECOND, '<invalid>'],
    [-SECOND, '0s'],
    [0, '0s'],
    [119.9 * SECOND, '119s'],
    [2 * MINUTE, '2m'],
    [9 * MINUTE + 59 * SECOND, '9m59s'],
    [10 * MINUTE + 59 * SECOND, '10m'],
    [179 * MINUTE, '179m'],
    [3 * HOUR, '3h'],
    [7 * HOUR + 59 * MINUTE, '7h59m'],
    [8 * HOUR + 59 * MINUTE, '8h'],
    [47 * HOUR, '47h'],
    [2 * DAY, '2d'],
    [7 * DAY + 23 * HOUR, '7d23h'],
    [8 * DAY + 23 * HOUR, '8d'],
    [729 * DAY, '729d'],
    [731 * DAY, '2y1d'],
    [9 * 365 * DAY + 8 * DAY, '9y'],
  ];
  for (const [milliseconds, words] of cases)
    it(`is ${words} for ${milliseconds} ms`, () => assert.equal(humanDuration(milliseconds), words));

  it('is unknown without a timestamp, and invalid for another text', () => {
    assert.equal(since('', 0), '<unknown>');
    assert.equal(since('yesterday', 0), '<invalid>');
    assert.equal(since('1970-01-01T00:00:00Z', 5000), '5s');
  });
});
