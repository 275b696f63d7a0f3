/** Selectors of 1 MB and of adversarial shape: an answer or a coded error, in steps that grow with the length alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFieldSelector, parseLabelSelector } from '../../src/index.ts';

/** A parser whose steps are the square of this would take hours. */
const SIZE = 1_000_000;

const SHAPES: Readonly<Record<string, string>> = {
  'one long word': 'a',
  'open parentheses': '(',
  'a list that never ends': 'a in (b,',
  commas: ',',
  negations: '!',
  'equals signs': '=',
  blanks: ' ',
  'no-break spaces': '\u00a0',
  emoji: '😀',
  'lone surrogates': '\ud800',
  'zero bytes': '\0',
  'many good terms': 'a=b,',
  'dots and dashes': 'a.-',
  slashes: 'a/',
  backslashes: '\\',
  'escaped commas': 'a=\\,',
};

for (const [name, parse] of [
  ['label', parseLabelSelector],
  ['field', parseFieldSelector],
] as const) {
  for (const [shape, piece] of Object.entries(SHAPES)) {
    test(`a ${name} selector of 1 MB of ${shape} is parsed or refused with a code`, () => {
      try {
        parse(piece.repeat(Math.ceil(SIZE / piece.length)));
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'ERR_KUBELOOM_SELECTOR', String(error));
      }
    });
  }
}

test('a selector that is not text is refused with a code', () => {
  for (const value of [1, null, {}, ['a']]) {
    assert.throws(() => parseLabelSelector(value as unknown as string), { code: 'ERR_KUBELOOM_SELECTOR' });
    assert.throws(() => parseFieldSelector(value as unknown as string), { code: 'ERR_KUBELOOM_SELECTOR' });
  }
});
