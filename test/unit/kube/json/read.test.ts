/** Tests of the small readers and of the path syntax. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeStringContent,
  decodeStringToken,
  findPath,
  jsonKey,
  keyEquals,
  splitPath,
} from '../../../../src/kube/json/read.ts';
import { embed } from './objects.ts';
import { writeJson } from './random-json.ts';
import { Seeded } from './seeded.ts';

test('string tokens are decoded, with escapes and multi-byte characters', () => {
  for (const text of ['', 'plain', 'ü€😀', 'a"b\\c\n', '\u2028']) {
    for (const escapes of [0, 1]) {
      const token = writeJson(text, new Seeded(1), { spaces: 0, escapes });
      const { bytes, start, end } = embed(token);
      assert.equal(decodeStringToken(bytes, start, end), text);
      assert.equal(decodeStringContent(bytes, start + 1, end - 1), text);
    }
  }
  for (const token of ['5', '"', 'null', '"bad \\x escape"', '']) {
    const { bytes, start, end } = embed(token);
    assert.equal(decodeStringToken(bytes, start, end), undefined, token);
  }
});

test('a key equals only itself, however it is written', () => {
  const is = (token: string, key: string): boolean => {
    const { bytes, start, end } = embed(token);
    return keyEquals(bytes, start, end, jsonKey(key));
  };
  assert.ok(is('"name"', 'name'));
  assert.ok(is('"n\\u0061me"', 'name'));
  assert.ok(is('"\\u006e\\u0061\\u006d\\u0065"', 'name'));
  assert.ok(is('"\\u00fc"', 'ü'));
  assert.ok(!is('"names"', 'name'));
  assert.ok(!is('"nam\\u0065s"', 'name'));
  assert.ok(!is('"nam"', 'name'));
  assert.ok(!is('"n\\u00zzme"', 'name'));
  // The bytes of a key that are another key's text.
  assert.ok(
    !is('"a\\b"', 'a\\b') && is('"a\\b"', 'a\b') && is('"a\\\\b"', 'a\\b') && is('"a\\u0008"', 'a\b'),
  );
  assert.ok(is('"\\ud800"', '\ud800') && is('"\\uD800"', '\ud800') && !is('"\\ud800"', '\ud801'));
  assert.ok(!is('"\ufffd"', '\ud800') && !is('"\\ud800"', '\ufffd'));
});

test('findPath leads through objects, with escaped dots in keys, to the first of two equal keys', () => {
  const object =
    '{"a":{"x":1},"metadata":{"annotations":{"foo.bar/baz":"v","c\\\\d":7}},"a":{"x":2},"l":[{"x":3}]}';
  const { bytes, start, end } = embed(object);
  const at = (path: string): string | undefined => {
    const span = findPath(bytes, start, end, path);
    return span && Buffer.from(bytes.slice(span.start, span.end)).toString('utf8');
  };
  assert.equal(at('metadata.annotations.foo\\.bar/baz'), '"v"');
  assert.equal(at('metadata.annotations.c\\\\d'), '7');
  assert.equal(at('a.x'), '1');
  assert.equal(at('a'), '{"x":1}');
  for (const absent of ['b', 'a.y', 'a.x.z', 'l.x', 'l.0', 'metadata.annotations.foo']) {
    assert.equal(at(absent), undefined, absent);
  }
});

test('splitPath resolves escapes and rejects invalid paths', () => {
  assert.deepEqual(splitPath('a.b\\.c.d\\\\e'), ['a', 'b.c', 'd\\e']);
  for (const path of ['', '.', 'a.', '.a', 'a..b', 'a\\b', 'a\\']) {
    assert.throws(() => splitPath(path), { code: 'ERR_KUBELOOM_OPTION' }, path);
  }
});
