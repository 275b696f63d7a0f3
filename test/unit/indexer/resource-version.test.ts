/** ResourceVersions that become numbers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { canonicalDecimal } from '../../../src/indexer/last-states.ts';

test('a canonical decimal below 2^53 is a number, everything else stays text', () => {
  const read = (text: string): number => canonicalDecimal(Buffer.from(`"${text}"`), 1, text.length);
  for (const text of ['0', '1', '10', '4294967295', '4294967296', '9007199254740991']) {
    assert.equal(read(text), Number(text));
    assert.equal(String(read(text)), text);
  }
  for (const text of ['', '00', '01', '-1', '+1', '1.0', '1e3', ' 1', '1 ', 'abc', '12a']) {
    assert.equal(read(text), -1, text);
  }
  for (const text of ['9007199254740992', '9007199254740993', '9999999999999999', '18446744073709551615']) {
    assert.equal(read(text), -1, text);
  }
});
