/** The results as one JSON document, written and read. */
import { readFileSync } from 'node:fs';
import { KubeloomError } from '../src/errors.ts';
import type { Machine } from './machine.ts';
import type { Row } from './row.ts';

export interface Report {
  readonly machine: Machine;
  readonly results: readonly Row[];
}

const DIGITS = 6;

/** Figures to six digits: what is beyond is noise, and makes files hard to compare. */
export function reportJson(report: Report): string {
  const round = (_key: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value;
  return `${JSON.stringify(report, round, 1)}\n`;
}

/** @throws ERR_KUBELOOM_BENCH_FILE when the file is not what `--json` writes */
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
