/** The writer of a scrape: parts, numbers and characters as strings of them would have. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Utf8Writer } from '../../../../src/base/metrics/utf8-writer.ts';

describe('a writer of UTF-8', () => {
  it('returns the parts in order, also when it has to grow', () => {
    const writer = new Utf8Writer(4);
    writer.write('name="');
    writer.put(Buffer.from('pods'));
    writer.write('" ');
    const { length } = writer;
    for (let count = 0; count < 100; count++) writer.repeat(0, length);
    assert.equal(writer.toString(), 'name="pods" '.repeat(101));
  });

  it('writes numbers as JavaScript does', () => {
    const numbers = [0, 9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, 2 ** 53, -0, -1, 0.1, 1e-7, 1e21, Number.NaN];
    const writer = new Utf8Writer(16);
    for (const number of numbers) {
      writer.number(number);
      writer.write(' ');
    }
    assert.equal(writer.toString(), `${numbers.join(' ')} `);
  });

  it('keeps characters outside ASCII, and repeats them', () => {
    const writer = new Utf8Writer(16);
    writer.write('é');
    const { length } = writer;
    writer.write('字 🚀');
    writer.repeat(0, length);
    assert.equal(writer.toString(), 'é字 🚀é');
  });
});
