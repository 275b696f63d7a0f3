/** Tests of shard selectors: the server's text, slots, and the refusal of selectors that would select something else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  checkShardSelector,
  parseShardSelector,
  shardSelectorText,
  shardSlots,
} from '../../../src/kube/shard-selector.ts';

const refused = (message: RegExp): object => ({ code: 'ERR_KUBELOOM_SELECTOR', message });

describe('a shard selector', () => {
  test('is written with one shardRange for each range', () => {
    const ranges = [
      { start: '0x0', end: '0x8000000000000000' },
      { start: '0xc000000000000000', end: '0x10000000000000000' },
    ];
    assert.equal(
      shardSelectorText({ key: 'namespace', ranges }),
      "shardRange(object.metadata.namespace, '0x0', '0x8000000000000000') || " +
        "shardRange(object.metadata.namespace, '0xc000000000000000', '0x10000000000000000')",
    );
  });

  test('is the same after it was written and parsed, whatever the spaces', () => {
    const selector = shardSlots('uid', [0, 5, 15]);
    const text = shardSelectorText(selector);
    assert.deepEqual(parseShardSelector(text), selector);
    assert.deepEqual(parseShardSelector(text.replaceAll(' ', '')), selector);
    assert.deepEqual(parseShardSelector(`  ${text.replaceAll(',', ' ,  ')} `), selector);
  });

  const malformed: readonly (readonly [text: string, message: RegExp])[] = [
    ['', /can't understand ''/],
    ["shardRange(object.metadata.uid, '0x0', '0x1') ||", /can't understand ''/],
    ["shardRange(object.metadata.name, '0x0', '0x1')", /can't understand/],
    ["shardRange(metadata.uid, '0x0', '0x1')", /can't understand/],
    ["shardRange(object.metadata.uid, 0x0, '0x1')", /can't understand/],
    [
      "shardRange(object.metadata.uid, '0', '0x1')",
      /must be text from '0x0' to '0x10000000000000000', got 0/,
    ],
    ["shardRange(object.metadata.uid, '0x', '0x1')", /must be text from/],
    ["shardRange(object.metadata.uid, '0x0', '0xg')", /must be text from/],
    ["shardRange(object.metadata.uid, '0x0', '0x10000000000000001')", /must be text from/],
    ["shardRange(object.metadata.uid, '0x2', '0x2')", /must end after its start, got 0x2 to 0x2/],
    [
      "shardRange(object.metadata.uid, '0x0', '0x1') || shardRange(object.metadata.namespace, '0x1', '0x2')",
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
    ["shardRange(object.metadata.uid, '0x0', '0x1')", /the key of a shard selector/],
    [{ key: 'name', ranges: [{ start: '0x0', end: '0x1' }] }, /got name/],
    [{ key: 'uid' }, /at least one range/],
    [{ key: 'uid', ranges: [] }, /at least one range/],
    [{ key: 'uid', ranges: [null] }, /got undefined/],
    [{ key: 'uid', ranges: [{ start: 0, end: 1 }] }, /must be text from .*, got 0/],
  ];
  for (const [selector, message] of wrong) {
    test(`is refused when it is the value ${JSON.stringify(selector)}`, () => {
      assert.throws(() => checkShardSelector(selector), refused(message));
    });
  }
});

describe('slots', () => {
  for (const count of [1, 2, 3, 16, 256]) {
    test(`that are all ${count} leave no gap and no overlap`, () => {
      const all = Array.from({ length: count }, (_, slot) => slot);
      const { ranges } = shardSlots('uid', all, count);
      assert.equal(ranges[0]?.start, '0x0000000000000000');
      assert.equal(ranges.at(-1)?.end, '0x10000000000000000');
      for (const [index, { end }] of ranges.slice(0, -1).entries())
        assert.equal(ranges[index + 1]?.start, end);
    });
  }

  test('that do not exist are refused, as is a number of slots that makes no sense', () => {
    for (const slot of [-1, 16, 1.5, Number.NaN]) {
      assert.throws(() => shardSlots('uid', [slot]), refused(/a slot must be an integer from 0 to 15/));
    }
    for (const count of [0, 257, 1.5]) {
      assert.throws(() => shardSlots('uid', [0], count), refused(/number of slots .* from 1 to 256/));
    }
    assert.throws(() => shardSlots('uid', []), refused(/at least one range/));
  });
});
