/**
 * Tests of label selectors: the grammar of kubectl and of workloads. (test/semantics compares the messages with a
 * real server.)
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { labelSelectorAsSelector, parseLabelSelector } from '../../../src/kube/label-selector.ts';
import type { LabelSelector, LabelSelectorObject } from '../../../src/kube/label-selector.ts';

const OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  web: { app: 'web', tier: 'front', weight: '3' },
  db: { app: 'db', weight: '10', 'example.com/team': 'a' },
  old: { app: 'web', legacy: '', weight: 'heavy' },
  bare: {},
};

function matching(selector: LabelSelector): string {
  return Object.entries(OBJECTS)
    .filter(([, labels]) => selector.matches(labels))
    .map(([name]) => name)
    .join(' ');
}

describe('a label selector', () => {
  test('C154 compares integers of 64 bits exactly, and takes no larger integers', () => {
    const matches = (text: string, weight: string): boolean => parseLabelSelector(text).matches({ weight });
    assert.equal(matches('weight>9007199254740992', '9007199254740993'), true);
    assert.equal(matches('weight<9007199254740993', '9007199254740992'), true);
    assert.equal(matches('weight>9007199254740993', '9007199254740993'), false);
    assert.equal(matches('weight>1', '9223372036854775808'), false, 'no integer of 64 bits');
    assert.throws(() => parseLabelSelector('weight>9223372036854775808'), { code: 'ERR_KUBELOOM_SELECTOR' });
  });

  for (const [text, expected] of [
    ['', 'web db old bare'],
    ['app=web', 'web old'],
    ['app==web', 'web old'],
    [' app = web , tier ', 'web'],
    ['app!=web', 'db bare'],
    ['app in (web,db)', 'web db old'],
    ['app in ()', ''],
    ['app notin (web)', 'db bare'],
    ['legacy', 'old'],
    ['!legacy', 'web db bare'],
    ['legacy=', 'old'],
    ['weight>3', 'db'],
    ['weight<10', 'web'],
    ['example.com/team=a', 'db'],
    ['toString', ''],
    ['!hasOwnProperty', 'web db old bare'],
  ] as const) {
    test(`C154 "${text}" matches ${expected || 'nothing'}`, () => {
      const selector = parseLabelSelector(text);
      assert.equal(matching(selector), expected);
      assert.equal(selector.isEverything, text === '');
    });
  }

  for (const text of [
    'a b',
    'a=b c',
    ',a',
    'a,',
    'a in b',
    'a in (b',
    'a in (b c)',
    'a in ((b))',
    '!a=b',
    'a>b',
    'a>',
    '-a',
    'a-',
    'a=b-',
    'a'.repeat(64),
    'a>-1',
    `a=${'b'.repeat(64)}`,
    `${'a'.repeat(254)}/b`,
    'UPPER.example/name',
    'a/b/c',
    '=a',
    'a=(b)',
    'a constructor (b)',
  ]) {
    test(`C154 "${text.slice(0, 30)}" is rejected with a code`, () => {
      assert.throws(() => parseLabelSelector(text), { code: 'ERR_KUBELOOM_SELECTOR' });
    });
  }

  test('C154 of a megabyte is read in one pass: the work is linear in the length of any text', () => {
    const scans = (length: number): number => {
      const text = 'a,'.repeat(length / 2) + 'a';
      const selector = parseLabelSelector(text);
      return selector.requirements.length;
    };
    assert.equal(scans(1 << 20), (1 << 19) + 1);
    assert.throws(() => parseLabelSelector('('.repeat(1 << 20)), { code: 'ERR_KUBELOOM_SELECTOR' });
    assert.throws(() => parseLabelSelector(`a=${'-'.repeat(1 << 20)}`), { code: 'ERR_KUBELOOM_SELECTOR' });
    assert.throws(() => parseLabelSelector(`${'a.'.repeat(1 << 19)}/b`), { code: 'ERR_KUBELOOM_SELECTOR' });
  });
});

describe('the selector of a workload', () => {
  for (const [selector, expected] of [
    [undefined, ''],
    [{}, 'web db old bare'],
    [{ matchLabels: { app: 'web' } }, 'web old'],
    [{ matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, 'web'],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['db'] }] }, 'db'],
    [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web', 'x'] }] }, 'db bare'],
    [{ matchExpressions: [{ key: 'legacy', operator: 'DoesNotExist' }] }, 'web db bare'],
  ] as readonly (readonly [LabelSelectorObject | undefined, string])[]) {
    test(`C154 ${JSON.stringify(selector) ?? 'that is absent'} matches ${expected || 'nothing'}`, () => {
      assert.equal(matching(labelSelectorAsSelector(selector)), expected);
    });
  }

  for (const selector of [
    { matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] },
    { matchExpressions: [{ key: 'a', operator: 'In' }] },
    { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
    { matchExpressions: [{ key: '-', operator: 'Exists' }] },
    { matchLabels: { a: 'b c' } },
  ]) {
    test(`C154 ${JSON.stringify(selector)} is rejected with a code`, () => {
      assert.throws(() => labelSelectorAsSelector(selector), { code: 'ERR_KUBELOOM_SELECTOR' });
    });
  }
});
