/** Figures as short text. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countText,
  durationText,
  percentText,
  rateText,
  sparkline,
} from '../../../../src/tools/cli/terminal/figures.ts';

test('a count has at most seven characters', () => {
  const texts = [0, 999_999, 1_000_000, 1_234_567, 12_345_678, 123_456_789, 999_600_000, 12e9].map(countText);
  assert.deepEqual(texts, ['0', '999,999', '1.00M', '1.23M', '12.3M', '123M', '1.00G', '12.0G']);
  for (let value = 0.1; value < 1e14; value *= 1.37) assert.ok(countText(value).length <= 7, String(value));
});

test('a rate below ten has a decimal', () => {
  assert.deepEqual([0, 0.4, 9.94, 9.96, 1234].map(rateText), ['0', '0.4', '9.9', '10', '1,234']);
});

test('a duration has at most five characters and the unit that suits it', () => {
  const texts = [0, 0.00085, 0.0032, 0.0099, 0.2, 0.9996, 9.96, 130, 1020, 18_000, 300_000].map(durationText);
  assert.equal(texts.join(' '), '0µs 850µs 3.2ms 9.9ms 200ms 1.0s 10s 130s 17m 5h 3d');
  for (let value = 1e-7; value < 1e8; value *= 1.01)
    assert.ok(durationText(value).length <= 5, String(value));
});

test('a figure that does not exist is a dash', () => {
  const dashes = [countText, rateText, durationText, percentText].map((text) => text(undefined));
  assert.deepEqual(dashes, ['–', '–', '–', '–']);
});

test('a sparkline has a full block for the highest of its values', () => {
  assert.equal(sparkline([0, 5, 10]), '▁▅█');
  assert.equal(sparkline([0, 0]), '▁▁');
  assert.equal(sparkline([]), '');
});
