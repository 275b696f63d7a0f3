/** Selectors of 100 KB and of adversarial shape: an answer in linear time, or a coded error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFieldSelector, parseLabelSelector } from '../../src/index.ts';

const SIZE = 100_000;

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

/** The CPU time of the faster of two runs, in ms. */
function cpuMs(run: () => void): number {
  const once = (): number => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  return Math.min(once(), once());
}

for (const [name, parse] of [
  ['label', parseLabelSelector],
  ['field', parseFieldSelector],
] as const) {
  for (const [shape, piece] of Object.entries(SHAPES)) {
    test(`a ${name} selector of 100 KB of ${shape} is parsed or refused with a code, in linear time`, () => {
      const attempt = (length: number) => () => {
        try {
          parse(piece.repeat(Math.ceil(length / piece.length)));
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'ERR_KUBELOOM_SELECTOR', String(error));
        }
      };
      attempt(SIZE)();
      const [one, eight] = [cpuMs(attempt(SIZE)), cpuMs(attempt(8 * SIZE))];
      // The square would be 64 times as long; 4 ms is what a collection may cost.
      assert.ok(eight < 24 * Math.max(one, 4), `${one} ms for 100 KB, ${eight} ms for 800 KB`);
    });
  }
}

test('a selector that is not text is refused with a code', () => {
  for (const value of [1, null, {}, ['a']]) {
    assert.throws(() => parseLabelSelector(value as unknown as string), { code: 'ERR_KUBELOOM_SELECTOR' });
    assert.throws(() => parseFieldSelector(value as unknown as string), { code: 'ERR_KUBELOOM_SELECTOR' });
  }
});
