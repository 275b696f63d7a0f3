/** The text of docs/metrics-table.md, made from the table of metrics. */
import { METRIC_DEFINITIONS } from '../../../src/metrics/metrics-table.ts';

const HEAD = `# Table of metrics

[metrics.md](metrics.md) says how to read them, and which values their labels have. This page is made by \`npm run suite -- metrics\` from
\`src/metrics/metrics-table.ts\`.

| metric | type | labels | meaning |
|---|---|---|---|
`;

export function metricsPage(): string {
  const rows = METRIC_DEFINITIONS.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |\n`,
  );
  return HEAD + rows.join('');
}
