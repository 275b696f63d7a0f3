/** docs/scale.md has the tables that the program writes, and the estimate follows its unit costs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { billOf, cpuAt, listMs } from '../../../../bench/scale/estimate.ts';
import { withTables } from '../../../../bench/scale/tables.ts';

const PAGE = fileURLToPath(new URL('../../../../../docs/scale.md', import.meta.url));
const DEPLOYMENT = { objects: 1000, changesPerSecond: 100, members: 4, partitions: 16, isFiltered: true };

test('docs/scale.md has the tables of bench/scale', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(page, withTables(page), 'npm run scale writes them');
});

test('a page without a place for a table is refused', () => {
  assert.throws(() => withTables('# Scale'), /no place for the table 'bill'/);
});

test('a server that filters sends each event once, and one that does not sends it to each member', () => {
  const filtered = billOf(DEPLOYMENT);
  const ignored = billOf({ ...DEPLOYMENT, isFiltered: false });
  assert.deepEqual([filtered.watches, filtered.sentPerSecond], [16, 100]);
  assert.deepEqual([ignored.watches, ignored.sentPerSecond], [4, 400]);
  assert.deepEqual([filtered.member.receivedPerSecond, ignored.member.receivedPerSecond], [25, 100]);
  assert.equal(filtered.member.objects, ignored.member.objects);
  assert.ok(filtered.member.keyCores < ignored.member.keyCores);
});

test('the list of a partition grows with the collection, and much faster when the server sends all of it', () => {
  const filteredMs = listMs({ ...DEPLOYMENT, objects: 1_000_000 });
  assert.ok(filteredMs > listMs(DEPLOYMENT));
  assert.ok(listMs({ ...DEPLOYMENT, objects: 1_000_000, isFiltered: false }) > 5 * filteredMs);
});

test('CPU time lies on the measured points, on lines between them, and on the full rate above', () => {
  const rates = [0, 1000, 3000, 105_000].map((rate) => cpuAt(rate).toFixed(4));
  assert.deepEqual(rates, ['0.0005', '0.0985', '0.1908', '1.1930']);
});
