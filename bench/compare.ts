/**
 * The check for regressions: ratios of this run against stored ratios. Unlike times, ratios depend little on the
 * machine; the tolerance is wide, because they still depend on it.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KubeloomError } from '../src/base/errors.ts';
import type { Row } from './row.ts';

/** A ratio below this share of the stored ratio is a regression. */
export const TOLERANCE = 0.7;

const NOT_COMPARED = /: (loop-delay|main-thread)/;

export interface Baseline {
  /** The machine of the baseline, as text for the reader. */
  readonly machine: string;
  /** Ratios by row and peer, e.g. `watch/pods/5120/key/events/s to client-node`. */
  readonly ratios: Readonly<Record<string, number>>;
}

export interface Comparison {
  readonly name: string;
  readonly stored: number;
  /** Null when the row is missing or failed in this run. */
  readonly now: number | null;
  readonly isRegression: boolean;
}

export const BASELINE_FILE: string = fileURLToPath(new URL('../../bench/baseline.json', import.meta.url));

/**
 * Returns the ratios of kubeloom's default rows: throughput and CPU time. Delays are left out, because on a busy
 * machine they do not measure the code. The main thread's CPU time is left out, because it is part of the total.
 */
export function ratiosOf(rows: readonly Row[]): Record<string, number> {
  const ratios: Record<string, number> = {};
  for (const row of rows) {
    if (row.client !== 'kubeloom' || !row.default || NOT_COMPARED.test(row.case)) continue;
    const name = [row.suite, row.case, row.objectBytes, row.handler, row.unit].join('/');
    const { 'client-node': toClientNode, limit: toLimit } = row.ratios;
    if (toClientNode !== undefined) ratios[`${name} to client-node`] = toClientNode;
    if (toLimit !== undefined) ratios[`${name} to the limit`] = toLimit;
  }
  return ratios;
}

/** Compares only the suites of this run. */
export function compareWith(baseline: Baseline, rows: readonly Row[]): Comparison[] {
  const ratios = ratiosOf(rows);
  const suites = new Set(rows.map(({ suite }) => suite));
  return Object.entries(baseline.ratios)
    .filter(([name]) => suites.has(name.split('/')[0] as Row['suite']))
    .map(([name, stored]) => {
      const now = ratios[name] ?? null;
      return { name, stored, now, isRegression: now === null || now < stored * TOLERANCE };
    });
}

export function comparisonText(comparisons: readonly Comparison[]): string {
  const lines = comparisons.map(({ name, stored, now, isRegression }) => {
    const verdict = isRegression ? 'WORSE' : 'ok   ';
    return `${verdict} ${name}: ${now === null ? 'not measured' : now.toPrecision(3)}, was ${stored.toPrecision(3)}`;
  });
  const failed = comparisons.filter(({ isRegression }) => isRegression).length;
  const rule = `a ratio below ${TOLERANCE * 100} % of the stored one is a regression`;
  return [...lines, `${comparisons.length - failed} passed, ${failed} failed (${rule})`].join('\n');
}

/** @throws ERR_KUBELOOM_USAGE when there is no baseline */
export function readBaseline(file: string = BASELINE_FILE): Baseline {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Baseline;
  } catch (cause) {
    const advice = 'write one with --write-baseline on a quiet machine';
    throw new KubeloomError('ERR_KUBELOOM_USAGE', `${file} cannot be read: ${advice}`, { cause });
  }
}
