/** The allowed arguments of options, and the errors for others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  parseCodec,
  parseObjectBytes,
  parsePods,
  parsePort,
  parseRate,
  parseSeconds,
  parseThreads,
} from '../../../../src/tools/cli/arguments.ts';

const REFUSED = { code: 'ERR_KUBELOOM_OPTION' };

describe('an argument', () => {
  it('is a number within its bounds', () => {
    assert.equal(parsePods('10000'), 10_000);
    assert.equal(parsePort('0'), 0);
    assert.equal(parseThreads('0'), 0);
    assert.equal(parseObjectBytes('5120'), 5120);
    assert.equal(parseSeconds('0.5'), 0.5);
    assert.equal(parseSeconds('10s'), 10);
    assert.equal(parseRate('20000'), 20_000);
    assert.equal(parseRate('max'), 'max');
    assert.equal(parseCodec('msgpack'), 'msgpack');
  });

  it('is refused outside of its bounds', () => {
    assert.throws(() => parsePods('0'), REFUSED);
    assert.throws(() => parsePods('1000001'), REFUSED);
    assert.throws(() => parsePort('65536'), REFUSED);
    assert.throws(() => parseThreads('65'), REFUSED);
    assert.throws(() => parseObjectBytes('10'), REFUSED);
    assert.throws(() => parseSeconds('0'), REFUSED);
    assert.throws(() => parseRate('0'), REFUSED);
    assert.throws(() => parseCodec('cbor'), REFUSED);
  });

  it('is refused when it is not a plain number, and the error quotes it', () => {
    const refused = { ...REFUSED, message: /--pods must be an integer from 1 to 1000000/ };
    for (const text of ['', ' ', '-1', '1e3', '0x10', 'ten', '1.5', 'NaN', '1,000']) {
      assert.throws(() => parsePods(text), refused, `for "${text}"`);
    }
    assert.throws(() => parseThreads('-1'), { message: /got "-1"$/ });
    assert.throws(() => parseRate('fast'), { message: /or max, got "fast"$/ });
    assert.throws(() => parseSeconds('soon'), { message: /got "soon"$/ });
  });
});
