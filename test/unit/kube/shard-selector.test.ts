/** Tests of shard selectors: the server's text, partitions, and the refusal of selectors that would select something else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  checkShardSelector,
  parseShardSelector,
  shardSelectorText,
  partitionRanges,
} from '../../../src/kube/shard-selector.ts';

const ONE = '0x0000000000000001';
const TWO = '0x0000000000000002';
const refused = (message: RegExp): object => ({ code: 'ERR_KUBELOOM_SELECTOR', message });

describe('a shard selector', () => {
  test('is written with one shardRange for each range', () => {
    const ranges = [
      { start: '0x0000000000000000', end: '0x8000000000000000' },
      { start: '0xc000000000000000', end: '0x10000000000000000' },
    ];
    assert.equal(
      shardSelectorText({ key: 'namespace', ranges }),
      "shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000') || " +
        "shardRange(object.metadata.namespace, '0xc000000000000000', '0x10000000000000000')",
    );
  });

  test('is the same after it was written and parsed, whatever the spaces', () => {
    const selector = partitionRanges([0, 5, 15], 16, 'namespace');
    const text = shardSelectorText(selector);
    assert.deepEqual(parseShardSelector(text), selector);
    assert.deepEqual(parseShardSelector(text.replaceAll(' ', '')), selector);
    assert.deepEqual(parseShardSelector(`  ${text.replaceAll(',', ' ,  ')} `), selector);
  });

  const range = (start: string, end: string, field = 'object.metadata.uid'): string =>
    `shardRange(${field}, '${start}', '${end}')`;
  const malformed: readonly (readonly [text: string, message: RegExp])[] = [
    ['', /can't understand ''/],
    [`${range(ONE, TWO)} ||`, /can't understand ''/],
    [range(ONE, TWO, 'object.metadata.name'), /can't understand/],
    [range(ONE, TWO, 'metadata.uid'), /can't understand/],
    [`shardRange(object.metadata.uid, ${ONE}, '${TWO}')`, /can't understand/],
    [range('0x1', TWO), /a bound of a shard selector must be '0x' and 16 digits 0-9a-f, .* got "0x1"$/],
    [range(ONE.slice(2), TWO), /must be '0x' and 16 digits/],
    [range(ONE, '0x000000000000000A'), /must be '0x' and 16 digits/],
    [range(ONE, '0x10000000000000001'), /must be '0x' and 16 digits/],
    [range(TWO, TWO), /must end after its start, got 0x0{15}2 to 0x0{15}2/],
    [
      `${range(ONE, TWO)} || ${range(ONE, TWO, 'object.metadata.namespace')}`,
      /all ranges must be of one key/,
    ],
  ];
  for (const [text, message] of malformed) {
    test(`is refused when it is ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseShardSelector(text), refused(message));
    });
  }

  const wrong: readonly (readonly [selector: unknown, message: RegExp])[] = [
    [undefined, /the key of a shard selector must be 'uid' or 'namespace'/],
    [null, /the key of a shard selector/],
    [shardSelectorText(partitionRanges([0])), /the key of a shard selector/],
    [{ key: 'name', ranges: [{ start: ONE, end: TWO }] }, /got "name"/],
    [{ key: 'uid' }, /at least one range/],
    [{ key: 'uid', ranges: [] }, /at least one range/],
    [{ key: 'uid', ranges: [null] }, /got undefined/],
    [{ key: 'uid', ranges: [{ start: 0, end: 1 }] }, /must be '0x' and 16 digits .*, got 0/],
  ];
  for (const [selector, message] of wrong) {
    test(`is refused when it is the value ${JSON.stringify(selector)}`, () => {
      assert.throws(() => checkShardSelector(selector), refused(message));
    });
  }
});

describe('partitions', () => {
  for (const count of [1, 2, 3, 16, 256]) {
    test(`that are all ${count} leave no gap and no overlap`, () => {
      const all = Array.from({ length: count }, (_, partition) => partition);
      const { ranges } = partitionRanges(all, count);
      assert.equal(ranges[0]?.start, '0x0000000000000000');
      assert.equal(ranges.at(-1)?.end, '0x10000000000000000');
      for (const [index, { end }] of ranges.slice(0, -1).entries())
        assert.equal(ranges[index + 1]?.start, end);
    });
  }

  test('that do not exist are refused, as is a number of partitions that makes no sense', () => {
    for (const partition of [-1, 16, 1.5, Number.NaN]) {
      assert.throws(
        () => partitionRanges([partition]),
        refused(/a partition must be an integer from 0 to 15/),
      );
    }
    for (const count of [0, 257, 1.5]) {
      assert.throws(() => partitionRanges([0], count), refused(/number of partitions .* from 1 to 256/));
    }
    assert.throws(() => partitionRanges([]), refused(/at least one range/));
  });
});
