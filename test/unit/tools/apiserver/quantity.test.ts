/** Quantities in the form in which a kube-apiserver stores them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalQuantity } from '../../../../src/tools/apiserver/store/quantity.ts';

/** Texts, and the texts that a server stored in place of them. */
const STORED =
  '0 0|0.1 100m|1000 1k|1500 1500|2000m 2|0.5Gi 512Mi|1024Mi 1Gi|1536Mi 1536Mi|1024 1024|0.5Ki 512|1.5 1500m|1e3 1e3|1.5e3 1500|12e6 12e6|1000k 1M|0.001 1m|+5 +5|00012 00012|.5 500m|5. 5.|1E3 1E3|1Ki 1Ki|2.5Mi 2560Ki';

test('a quantity is stored in the canonical form, and a form that is canonical stays', () => {
  for (const pair of STORED.split('|')) {
    const [given = '', stored] = pair.split(' ');
    assert.equal(canonicalQuantity(given), stored, given);
    assert.equal(canonicalQuantity(stored ?? ''), stored, 'twice');
  }
  for (const bad of ['', 'much', '1 Gi', '1KiB', '--1', '.', '1e', 'Ki'])
    assert.equal(canonicalQuantity(bad), undefined);
});
