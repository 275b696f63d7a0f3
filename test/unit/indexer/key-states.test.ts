/** Versions as numbers and as text, the order of a key's versions, and fingerprints of the metadata before managedFields. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyStates, canonicalDecimal } from '../../../src/indexer/key-states.ts';
import type { HeadSpan } from '../../../src/indexer/key-states.ts';

it('reads a canonical decimal below 2^53 as a number, and nothing else', () => {
  const read = (text: string): number => canonicalDecimal(Buffer.from(`"${text}"`), 1, text.length);
  for (const text of ['0', '1', '10', '4294967295', '4294967296', '9007199254740991']) {
    assert.equal(read(text), Number(text));
    assert.equal(String(read(text)), text);
  }
  const others = ['', '00', '01', '-1', '+1', '1.0', '1e3', ' 1', '1 ', 'abc', '12a'];
  const large = ['9007199254740992', '9007199254740993', '9999999999999999', '18446744073709551615'];
  for (const text of [...others, ...large]) assert.equal(read(text), -1, text);
});

describe('the versions of keys', () => {
  const ORDERS = [
    ['9', '9', 'same'],
    ['9', '8', 'older'],
    ['9', '10', 'newer'],
    ['9', '9007199254740993', 'newer'],
    ['9007199254740993', '9007199254740992', 'older'],
    ['9007199254740993', '9007199254740993', 'same'],
    ['9007199254740993', '5', 'older'],
    ['5', '6', 'newer'],
    ['abc', 'abb', 'newer'],
    ['abc', 'abc', 'same'],
    ['abc', '7', 'newer'],
    ['007', '006', 'newer'],
  ] as const;

  it('are in order as numbers, as longer texts, and between the two; without an order they are the same or newer', () => {
    const states = new KeyStates();
    for (const [known, next, order] of ORDERS) {
      states.put(200, encoded(known));
      assert.equal(states.orderOf(200, encoded(next)), order, `${next} after ${known}`);
    }
  });

  function encoded(version: string): number | string {
    const number = canonicalDecimal(Buffer.from(version), 0, version.length);
    return number < 0 ? version : number;
  }
});

describe('the fingerprint of metadata', () => {
  const json = '{"name":"a","uid":"u","resourceVersion":"12","labels":{"a":"b"},"managedFields":[1,2]}';

  function at(text: string, from = 0): { bytes: Buffer; span: HeadSpan; headEnd: number } {
    const bytes = Buffer.from('#'.repeat(from) + text);
    const versionStart = bytes.indexOf('"resourceVersion":') + '"resourceVersion":'.length;
    const versionEnd = bytes.indexOf(',', versionStart);
    const headEnd = bytes.indexOf('[1', versionEnd);
    return { bytes, span: { start: from, end: bytes.length, versionStart, versionEnd }, headEnd };
  }

  class Fingerprints {
    readonly kept: KeyStates = new KeyStates();

    keep(text: string, id = 7): this {
      const { bytes, span, headEnd } = at(text);
      this.kept.keepHead(id, bytes, span, headEnd);
      return this;
    }

    isSame(text: string, id = 7): boolean {
      const { bytes, span } = at(text, 5);
      return this.kept.isHeadSame(id, bytes, span);
    }
  }

  it('is equal for any version, managedFields and position of the object', () => {
    const prints = new Fingerprints().keep(json);
    assert.equal(prints.isSame(json), true);
    assert.equal(prints.isSame(json.replace('"12"', '"9876543210"').replace('2]', '2,3,4]')), true);
  });

  it('differs with any other byte before or behind the version, and for a shorter object', () => {
    const prints = new Fingerprints().keep(json);
    for (const [from, to] of [
      ['"u"', '"v"'],
      ['"name":"a"', '"name":"ab"'],
      ['"b"}', '"c"}'],
      ['"b"}', '"b","c":"d"}'],
      ['"managedFields":', '"finalizers":["f"],"managedFields":'],
      ['"labels":{"a":"b"},"managedFields":[1,2]', '"x":1'],
    ] as const) {
      assert.equal(prints.isSame(json.replace(from, to)), false, to);
    }
  });

  it('is never kept for another object', () => {
    const prints = new Fingerprints().keep(json, 1);
    assert.equal(prints.isSame(json.replace('"b"}', '"c"}'), 1), false);
    prints.kept.dropHead(1);
    const other = json.replace('"b"}', '"d"}');
    assert.equal(prints.keep(other, 2).isSame(other, 2), true);
  });

  it('matches nothing after its id was deleted, or when it was never set', () => {
    const prints = new Fingerprints().keep(json).keep(json, 70_000);
    prints.kept.dropHead(7);
    prints.kept.dropHead(1_000_000);
    for (const id of [7, 8, 2_000_000]) assert.equal(prints.isSame(json, id), false);
    assert.equal(prints.isSame(json, 70_000), true);
  });
});
