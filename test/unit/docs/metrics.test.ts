/** docs/metrics-table.md, the channels of docs/metrics.md and docs/grafana/alerts.yaml, compared with the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { METRIC_DEFINITIONS } from '../../../src/metrics/metrics-table.ts';
import { metricsPage } from './metrics-page.ts';
import { selections } from './promql.ts';

const PAGE = fileURLToPath(new URL('../../../../docs/metrics.md', import.meta.url));
const TABLE = fileURLToPath(new URL('../../../../docs/metrics-table.md', import.meta.url));
const CHANNELS = fileURLToPath(new URL('../../../../src/metrics/channels.ts', import.meta.url));
const ALERTS = fileURLToPath(new URL('../../../../docs/grafana/alerts.yaml', import.meta.url));

test('docs/metrics-table.md is the page of the table: npm run suite -- metrics writes it', () => {
  assert.equal(readFileSync(TABLE, 'utf8'), metricsPage());
});

/** Returns the fields of an interface in the source of the channels, those that it extends first. */
function fieldsOf(name: string, source: string): string[] {
  const found = new RegExp(`interface ${name}(?: extends ([^{]+))? \\{([^]*?)\\n\\}`).exec(source);
  assert.ok(found, name);
  const [, bases = '', body = ''] = found;
  const inherited = bases.split(', ').filter((base) => base !== '');
  const own = Array.from(body.matchAll(/^ {2}readonly '?([\w:-]+)'?:/gm), ([, field = '']) => field);
  return [...inherited.flatMap((base) => fieldsOf(base.trim(), source)), ...own];
}

test('docs/metrics.md has every channel with the fields of its messages', () => {
  const source = readFileSync(CHANNELS, 'utf8');
  const expected = fieldsOf('ChannelMessages', source).map((channel) => {
    const [, type = ''] = new RegExp(`'${channel}': (\\w+);`).exec(source) ?? [];
    return `| \`${channel}\` | ${fieldsOf(type, source).join(', ')} |`;
  });
  const [, section = ''] = readFileSync(PAGE, 'utf8').split(/^## Channels$/m);
  const rows = Array.from(section.matchAll(/^(\| `[^|]*\|[^|]*\|)/gm), ([row]) => row);
  assert.deepEqual(rows, expected);
});

test('the alerts of docs/grafana/alerts.yaml use metrics of the table', () => {
  const known = new Set<string>(METRIC_DEFINITIONS.map(({ name }) => name));
  const expressions = [...readFileSync(ALERTS, 'utf8').matchAll(/^ +expr: (.*)$/gm)].map(
    ([, expr = '']) => expr,
  );
  assert.ok(expressions.length > 0);
  for (const expression of expressions) {
    const used = selections(expression);
    assert.ok(used.length > 0 && used.every(({ metric }) => known.has(metric)), expression);
  }
});
