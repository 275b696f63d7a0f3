/** Writes the charts and the tables of `docs/benchmarks.md` from what `--json` wrote. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readReport } from '../document.ts';
import { CHARTS, drawChart } from './charts.ts';
import { figuresText, withFigures } from './markdown.ts';

const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url));

/** @returns what was written */
export function writeReport(files: readonly string[]): string[] {
  const reports = files.map(readReport);
  const results = reports.flatMap((report) => report.results);
  const folder = path.join(DOCS, 'benchmarks');
  mkdirSync(folder, { recursive: true });
  const charts: string[] = [];
  for (const chart of CHARTS) {
    const svg = drawChart(chart, results);
    if (svg === undefined) continue;
    writeFileSync(path.join(folder, chart.file), svg);
    charts.push(chart.file);
  }
  const page = path.join(DOCS, 'benchmarks.md');
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), figuresText(reports, charts)));
  return [page, ...charts.map((file) => path.join(folder, file))];
}
