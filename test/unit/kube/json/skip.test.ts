/**
 * Tests of the scanners: they find the end of a value in any notation, and never beyond their bound. The strict one
 * accepts what JSON.parse accepts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hasEscape,
  isPlainName,
  skipFlatArray,
  skipString,
  skipValue,
  skipWhitespace,
  validValueEnd,
} from '../../../../src/kube/json/skip.ts';
import { embed } from './objects.ts';
import { COMPACT, ODD, randomJson, writeJson } from './random-json.ts';
import { Seeded } from './seeded.ts';

test('skipValue and validValueEnd end exactly where the value ends, for random values in unusual notations', () => {
  for (let seed = 1; seed <= 600; seed++) {
    const random = new Seeded(seed);
    const text = writeJson(randomJson(random), random, random.chance(0.5) ? COMPACT : ODD);
    const { bytes, start, end } = embed(text, ', "}]{\\');
    assert.equal(skipValue(bytes, start, bytes.length), end, `seed ${seed}: ${text}`);
    assert.equal(validValueEnd(bytes, start, bytes.length), end, `seed ${seed}: ${text}`);
  }
});

test('skipFlatArray ends where skipValue ends, whatever is in the array and behind it', () => {
  const behind = ['', '}', '}}', ',"a":1}', ',"]":1}', '},"spec":{}}', '},":":[]}', ' }'];
  const inside = [
    '',
    '{}',
    '{"a":{}}',
    '{"a":[{}]}',
    '{"a":"]},\\"spec"}',
    '{"[":1}',
    '{"a":[{}]},{"spec":[]}',
    '"}]}}"',
  ];
  for (let seed = 1; seed <= 300; seed++) {
    const random = new Seeded(seed);
    const values = [random.pick(inside), writeJson(randomJson(random), random, COMPACT)].filter(() =>
      random.chance(0.8),
    );
    const text = `[${values.join()}]`;
    const { bytes, start, end } = embed(text + random.pick(behind), ', "}]{\\');
    assert.equal(skipFlatArray(bytes, start, end), start + Buffer.byteLength(text), `seed ${seed}: ${text}`);
  }
  for (const value of ['null', '{}', '"[]"', '[']) {
    const { bytes, start, end } = embed(value);
    assert.equal(skipFlatArray(bytes, start, end), skipValue(bytes, start, end));
  }
});

test('skipValue does not find an end beyond its bound', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Seeded(seed);
    const text = writeJson([randomJson(random)], random, ODD);
    const { bytes, start, end } = embed(text);
    for (let bound = start; bound < end; bound++)
      assert.equal(skipValue(bytes, start, bound), -1, `seed ${seed}`);
  }
});

test('skipString finds the closing quote at every length, with and without escapes before it', () => {
  for (let length = 0; length < 70; length++) {
    for (const tail of ['', '\\"', '\\\\', '\\\\\\"', 'é', '\\u00e9']) {
      const { bytes, start, end } = embed(`"${'x'.repeat(length)}${tail}"`);
      assert.equal(skipString(bytes, start, bytes.length), end, `${length} and ${tail}`);
      assert.equal(skipString(bytes, start, end - 1), -1);
      assert.equal(hasEscape(bytes, start, end), tail.includes('\\'));
    }
  }
});

test('a string that ends with a lone backslash at the bound is unclosed', () => {
  const { bytes, start } = embed('"abc\\"', '');
  assert.equal(skipString(bytes, start, start + 5), -1);
  assert.equal(skipString(bytes, start, start + 6), -1);
});

test('skipValue rejects invalid values', () => {
  for (const text of ['', ' ', ',', '}', '{"a"', '[1', '"a', 'tru"e"']) {
    const { bytes, start, end } = embed(text, '');
    assert.equal(skipValue(bytes, start, end), -1, text);
  }
  assert.equal(skipValue(Buffer.from('{}'), -1, 2), -1);
});

test('deep nesting does not use the stack', () => {
  const depth = 200_000;
  const bytes = Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  assert.equal(skipValue(bytes, 0, bytes.length), 2 * depth);
});

test('skipWhitespace stops at the first byte that is not JSON whitespace', () => {
  const bytes = Buffer.from(' \t\r\n\fx');
  assert.equal(skipWhitespace(bytes, 0, bytes.length), 4);
  assert.equal(skipWhitespace(bytes, 0, 2), 2);
});

test('a plain name has no slash, no backslash and nothing beside ASCII, wherever it would stand', () => {
  for (let length = 0; length < 10; length++) {
    for (let before = 0; before < 4; before++) {
      const bytes = Buffer.from(
        '\xff'.repeat(before) + 'abcdefghij'.slice(0, length) + '\xff/\\\xff',
        'latin1',
      );
      const end = before + length;
      assert.equal(isPlainName(bytes, before, end), true);
      for (let at = before; at < end; at++) {
        const plain = bytes[at] ?? 0;
        for (let byte = 0; byte < 256; byte++) {
          bytes[at] = byte;
          assert.equal(isPlainName(bytes, before, end), byte < 0x80 && byte !== 0x2f && byte !== 0x5c);
        }
        bytes[at] = plain;
      }
    }
  }
});

function accepts(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('validValueEnd accepts exactly what JSON.parse accepts, for values with one byte changed', () => {
  const replacements = ['"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', 't', ' ', '\u0001', 'x'];
  let accepted = 0;
  for (let seed = 1; seed <= 4000; seed++) {
    const random = new Seeded(seed);
    const text = writeJson(randomJson(random, 2), random, ODD);
    const at = random.below(text.length + 1);
    const changed = text.slice(0, at) + random.pick(replacements) + text.slice(at + random.below(2));
    const bytes = Buffer.from(changed);
    const isWhole = validValueEnd(bytes, 0, bytes.length) === bytes.length;
    const isWithoutSpaceAround = changed === changed.trim();
    if (!isWithoutSpaceAround) continue;
    assert.equal(isWhole, accepts(changed), `seed ${seed}: ${changed}`);
    if (isWhole) accepted++;
  }
  assert.ok(accepted > 100);
});

test('nesting of any depth is checked without an overflow of the stack', () => {
  const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  assert.equal(validValueEnd(Buffer.from(text), 0, text.length), text.length);
  const wrong = text.replace('[]', '[x]');
  assert.equal(validValueEnd(Buffer.from(wrong), 0, wrong.length), -1);
});
