/** Tests of field selectors against apimachinery's rules. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseFieldSelector } from '../../../src/kube/field-selector.ts';

describe('parseFieldSelector', () => {
  const valid: [string, [string, '=' | '!=', string][]][] = [
    ['', []],
    [',,', []],
    ['a=b', [['a', '=', 'b']]],
    ['a==b', [['a', '=', 'b']]],
    ['a!=b', [['a', '!=', 'b']]],
    ['a=', [['a', '=', '']]],
    ['a!=', [['a', '!=', '']]],
    [
      'a=b,c!=d,',
      [
        ['a', '=', 'b'],
        ['c', '!=', 'd'],
      ],
    ],
    [
      'a=b,a=b',
      [
        ['a', '=', 'b'],
        ['a', '=', 'b'],
      ],
    ],
    ['a.b/c=d e', [['a.b/c', '=', 'd e']]],
    [String.raw`a=x\,y\=z\\`, [['a', '=', String.raw`x,y=z\ `.trimEnd()]]],
    [
      String.raw`a=x\\,b=y`,
      [
        ['a', '=', 'x\\'],
        ['b', '=', 'y'],
      ],
    ],
    ['a=b!c', [['a', '=', 'b!c']]],
  ];
  for (const [text, requirements] of valid) {
    test(`reads ${JSON.stringify(text)}`, () => {
      const found = parseFieldSelector(text).map(({ field, operator, value }) => [field, operator, value]);
      assert.deepEqual(found, requirements);
    });
  }

  const invalid: [unknown, RegExp][] = [
    ['a', /^invalid selector: 'a'; can't understand 'a'$/],
    ['a=b,c', /can't understand 'c'/],
    ['=b', /can't understand '=b'/],
    ['a===b', /unescaped character in value: =/],
    ['a=b=c', /unescaped character in value: =/],
    [String.raw`a=\x`, /invalid escape sequence: \\x/],
    ['a=b\\', /invalid escape sequence: \\$/],
    [7, /must be a string, got 7/],
  ];
  for (const [text, message] of invalid) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseFieldSelector(text as string), { code: 'ERR_KUBELOOM_SELECTOR', message });
    });
  }

  test('takes linear time', () => {
    assert.equal(parseFieldSelector('a=b,'.repeat(100_000)).length, 100_000);
    assert.throws(() => parseFieldSelector('!'.repeat(500_000)), { code: 'ERR_KUBELOOM_SELECTOR' });
  });
});
