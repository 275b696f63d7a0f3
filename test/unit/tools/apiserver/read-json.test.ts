/** The reader and the writer of JSON with exact integers, against a naive reader of the same texts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../../../../src/base/random.ts';
import { writeJson } from '../../../../src/tools/apiserver/store/json.ts';
import type { Json, JsonObject } from '../../../../src/tools/apiserver/store/json.ts';
import { readDocument, readJson } from '../../../../src/tools/apiserver/store/read-json.ts';

/** A text, the value that a reader must find, and the paths of repeated members. */
interface Sample {
  readonly text: string;
  readonly value: Json;
  readonly repeated: readonly string[];
}

const NAMES = ['a', 'b', 'a"', 'a\\', '":', '\\":', '', '__proto__', '日', '0', 'constructor'];
const TEXTS = ['', 'x', 'a:"b":', '\\', '"', '9007199254740993', ':9007199254740993', '\u0000\n', '😀'];
const NUMBERS: readonly (readonly [text: string, value: Json])[] = [
  ['0', 0],
  ['-7', -7],
  ['1.5', 1.5],
  ['1e3', 1000],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740992', 9_007_199_254_740_992n],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['-9007199254740993', -9_007_199_254_740_993n],
  ['9223372036854775807', 9_223_372_036_854_775_807n],
  ['-9223372036854775808', -9_223_372_036_854_775_808n],
  ['9223372036854775808', 2 ** 63],
  ['9007199254740993.0', 2 ** 53],
  ['1e17', 1e17],
  ['0.12345678901234567', Number('0.12345678901234567')],
  ['123456789012345678901234567890', 1.2345678901234568e29],
];

/** Makes samples: the value is built beside the text, never read from the text. */
class Samples {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  next(path = '', depth = 0): Sample {
    const kind = this.#below(depth > 3 ? 4 : 8);
    if (kind < 2) return { ...this.#number(), repeated: [] };
    if (kind === 2) return this.#leaf(this.#pick(TEXTS));
    if (kind === 3) return this.#leaf(this.#pick([true, false, null]));
    return kind < 6 ? this.#list(path, depth) : this.#object(path, depth);
  }

  #number(): { readonly text: string; readonly value: Json } {
    const [text, value] = this.#pick(NUMBERS);
    return { text, value };
  }

  #leaf(value: string | boolean | null): Sample {
    return { text: JSON.stringify(value), value, repeated: [] };
  }

  #list(path: string, depth: number): Sample {
    const items = Array.from({ length: this.#below(4) }, (_, index) =>
      this.next(`${path}[${index}]`, depth + 1),
    );
    const text = `[${items.map((item) => `${this.#space()}${item.text}${this.#space()}`).join()}]`;
    return { text, value: items.map(({ value }) => value), repeated: items.flatMap((item) => item.repeated) };
  }

  #object(path: string, depth: number): Sample {
    const members = new Map<string, Json>();
    const repeated: string[] = [];
    const parts: string[] = [];
    for (let count = this.#below(5); count > 0; count--) {
      const name = this.#pick(NAMES);
      const inside = path === '' ? name : `${path}.${name}`;
      if (members.has(name)) repeated.push(inside);
      const member = this.next(inside, depth + 1);
      repeated.push(...member.repeated);
      members.set(name, member.value);
      parts.push(
        `${this.#space()}${JSON.stringify(name)}${this.#space()}:${this.#space()}${member.text}${this.#space()}`,
      );
    }
    return { text: `{${parts.join()}}`, value: Object.fromEntries(members) as JsonObject, repeated };
  }

  #space(): string {
    return this.#pick(['', '', '', ' ', '\n', '\t']);
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

function repeatedIn(text: string): string[] {
  return readDocument(text).members.flatMap(({ path, isRepeated }) => (isRepeated ? [path] : []));
}

describe('JSON with exact integers', () => {
  it('is read as it was made, with all repeated members, and written with the same values', () => {
    for (let seed = 0; seed < 3000; seed++) {
      const { text, value, repeated } = new Samples(seed).next();
      assert.deepEqual(readDocument(text).value, value, `seed ${seed}: ${text}`);
      assert.deepEqual(repeatedIn(text), repeated, `seed ${seed}: ${text}`);
      const written = writeJson(value);
      if (!/[.e]/.test(written)) assert.deepEqual(readJson(written), readDocument(written).value);
      assert.equal(writeJson(readJson(written)), written, `seed ${seed}`);
    }
  });

  it('equals JSON.parse for texts without long integers and repeated members', () => {
    for (let seed = 0; seed < 1000; seed++) {
      const text = JSON.stringify(JSON.parse(new Samples(seed).next().text)).replaceAll(/-?\d{16,}/g, '1');
      assert.deepEqual(readDocument(text), { value: JSON.parse(text) as Json, members: [] }, `seed ${seed}`);
    }
  });

  it('merges repeated objects and lists for a struct, and keeps the last of other values', () => {
    const text =
      '{"a":{"b":1,"c":[{"d":1,"e":2},3]},"a":{"f":{},"c":[{"d":4}]},"g":{},"g":null,"h":1,"h":{}}';
    const value = { a: { b: 1, c: [{ d: 4, e: 2 }], f: {} }, g: null, h: {} };
    assert.deepEqual(readDocument(text, true).value, value);
    assert.deepEqual(readDocument(text).value, { ...value, a: { f: {}, c: [{ d: 4 }] } });
  });

  it('has no value for a number beyond the range of floats, for more than 10,000 levels, and for other texts', () => {
    const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    for (const text of ['1e400', '[-1e400]', nested(10_001), '', '{', '01', '{"a":1}}'])
      assert.equal(readDocument(text).value, undefined, text.slice(0, 10));
    assert.ok(Array.isArray(readDocument(nested(10_000)).value));
    assert.equal(readDocument('"Infinity"').value, 'Infinity');
  });

  it('has U+FFFD for lone surrogates, also in names', () => {
    const { value, members } = readDocument(String.raw`{"\ud800":1,"\ufffd":"\udc00\ud83d\ude00\\ud800"}`);
    assert.deepEqual(value, { '\ufffd': '\ufffd😀\\ud800' });
    assert.deepEqual(
      members.map(({ isRepeated }) => isRepeated),
      [false, true],
    );
  });

  it('is read in linear time and without recursion in the text', () => {
    const long = `{"a":"${String.raw`\"`.repeat(1_000_000)}","b":9007199254740993}`;
    assert.equal((readJson(long) as { readonly b: bigint }).b, 9_007_199_254_740_993n);
  });

  it('is refused for a cycle', () => {
    const cycle: { self?: object; long: bigint } = { long: 1n };
    cycle.self = cycle;
    assert.throws(() => writeJson(cycle), TypeError);
  });
});
