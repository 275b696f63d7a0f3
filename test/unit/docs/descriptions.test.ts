/** Descriptions that an editor shows for the names of the package: every exported name has one. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../../contract/clauses.ts';

const REPORTS = join(ROOT, 'test/api');
/** Members of public types without a description. The number may only get smaller. */
const MEMBERS_MAX = 0;

const reports = readdirSync(REPORTS)
  .filter((name) => name.endsWith('.api.md'))
  .map((name) => readFileSync(join(REPORTS, name), 'utf8'));

test('every exported name has a description', () => {
  assert.ok(reports.length > 5);
  const bare = reports.flatMap((report) =>
    Array.from(report.matchAll(/^\/\/ @public \(undocumented\)\n(.*)/gm), ([, line = '']) => line),
  );
  assert.deepEqual(bare, []);
});

test('members without a description do not become more', () => {
  const members = reports.flatMap((report) => report.match(/^ +\/\/ \(undocumented\)/gm) ?? []);
  assert.ok(members.length <= MEMBERS_MAX, `${members.length} of at most ${MEMBERS_MAX}`);
});
