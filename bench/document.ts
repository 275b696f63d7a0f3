/** The results as one JSON document, written and read. */
import { readFileSync } from 'node:fs';
import { KubeloomError } from '../src/base/errors.ts';
import type { Machine } from './machine.ts';
import type { Row } from './row.ts';

export interface Report {
  readonly machine: Machine;
  readonly results: readonly Row[];
}

const DIGITS = 6;

/**
 * Writes a line for each row. Figures are rounded to six digits: more would be noise, and would make files
 * hard to compare.
 */
export function reportJson({ machine, results }: Report): string {
  const round = (_key: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
  const lines = results.map((row) => `  ${JSON.stringify(row, round)}`);
  return `{\n "machine": ${JSON.stringify(machine, round)},\n "results": [\n${lines.join(',\n')}\n ]\n}\n`;
}

/** @throws ERR_KUBELOOM_BENCH_FILE when the file is not a document that `--json` wrote */
export function readReport(file: string): Report {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Partial<Report>;
    if (report.machine !== undefined && Array.isArray(report.results)) return report as Report;
  } catch (cause) {
    throw new KubeloomError('ERR_KUBELOOM_BENCH_FILE', `${file} cannot be read as JSON`, { cause });
  }
  const message = `${file} has no machine and results: write it with npm run bench -- --json ${file}`;
  throw new KubeloomError('ERR_KUBELOOM_BENCH_FILE', message);
}
