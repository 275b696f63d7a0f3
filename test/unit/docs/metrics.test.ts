/** The table of docs/metrics.md, compared with the table of the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { METRIC_DEFINITIONS } from '../../../src/base/metrics/table.ts';

const PAGE = fileURLToPath(new URL('../../../../docs/metrics.md', import.meta.url));

test('docs/metrics.md has a row for every metric, in the order of the table', () => {
  const expected = METRIC_DEFINITIONS.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`,
  );
  const rows = readFileSync(PAGE, 'utf8').match(/^\| `.*$/gm) ?? [];
  assert.deepEqual(rows, expected, `docs/metrics.md should have:\n${expected.join('\n')}`);
});
