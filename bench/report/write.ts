/** Writes the figures of `docs/benchmarks.md`, the charts and the results, from files that `--json` wrote. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readReport, reportJson } from '../document.ts';
import { CHARTS, drawChart } from './charts.ts';
import { figuresText, withPart } from './markdown.ts';
import { programsText } from './programs.ts';

const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url));

/** @returns the paths of the files written */
export function writeReport(files: readonly string[]): string[] {
  const runs = files.map((file, index) => ({ file: `run-${index + 1}.json`, report: readReport(file) }));
  const results = runs.flatMap(({ report }) => report.results);
  const folder = path.join(DOCS, 'benchmarks');
  mkdirSync(folder, { recursive: true });
  for (const { file, report } of runs) writeFileSync(path.join(folder, file), reportJson(report));
  const charts: string[] = [];
  for (const chart of CHARTS) {
    const svg = drawChart(chart, results);
    if (svg === undefined) continue;
    writeFileSync(path.join(folder, chart.file), svg);
    charts.push(chart.file);
  }
  const page = path.join(DOCS, 'benchmarks.md');
  const text = withPart(readFileSync(page, 'utf8'), 'figures', figuresText(runs, charts));
  const hasPrograms = results.some(({ suite }) => suite === 'programs');
  writeFileSync(page, hasPrograms ? withPart(text, 'programs', `${programsText(results)}\n`) : text);
  return [page, ...[...runs.map(({ file }) => file), ...charts].map((file) => path.join(folder, file))];
}
