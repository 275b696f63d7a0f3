/** The table of docs/metrics.md and the alerts of docs/operations.md, compared with the table of the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { METRIC_DEFINITIONS } from '../../../src/base/metrics/table.ts';
import { selections } from './promql.ts';

const PAGE = fileURLToPath(new URL('../../../../docs/metrics.md', import.meta.url));
const OPERATIONS = fileURLToPath(new URL('../../../../docs/operations.md', import.meta.url));

test('docs/metrics.md has a row for every metric, in the order of the table', () => {
  const expected = METRIC_DEFINITIONS.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`,
  );
  const rows = readFileSync(PAGE, 'utf8').match(/^\| `.*$/gm) ?? [];
  assert.deepEqual(rows, expected, `docs/metrics.md should have:\n${expected.join('\n')}`);
});

test('the alerts of docs/operations.md use metrics of the table', () => {
  const known = new Set<string>(METRIC_DEFINITIONS.map(({ name }) => name));
  const expressions = [...readFileSync(OPERATIONS, 'utf8').matchAll(/^ +expr: (.*)$/gm)].map(
    ([, expr = '']) => expr,
  );
  assert.ok(expressions.length > 0);
  for (const expression of expressions) {
    const used = selections(expression);
    assert.ok(used.length > 0 && used.every(({ metric }) => known.has(metric)), expression);
  }
});
