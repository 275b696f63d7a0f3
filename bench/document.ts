/**
 * The results as a JSON document, written and read, with the facts about the machine that a reader needs to judge a
 * figure.
 */
import { execFileSync } from 'node:child_process';
import type { StdioOptions } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { readFileSync } from 'node:fs';
import { KubeloomError } from '../src/base/errors.ts';
import type { Row } from './row.ts';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly os: string;
  readonly node: string;
  readonly v8: string;
  /** Over the last minute, before the run. */
  readonly loadAverage: number;
  readonly date: string;
  readonly commit: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    os: `${type()} ${release()}`,
    node: process.version,
    v8: process.versions.v8,
    loadAverage: loadavg()[0] ?? 0,
    date: new Date().toISOString(),
    commit: commit(),
  };
}

function commit(): string {
  try {
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio }).trim();
  } catch {
    return 'unknown';
  }
}

export function machineText({ cores, cpu, memoryBytes, node, os, commit, loadAverage }: Machine): string {
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GiB`;
  return `${cores} × ${cpu}, ${memory}, ${os}, Node ${node}, commit ${commit}, load ${loadAverage.toFixed(1)}`;
}

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

/** @throws ERR_KUBELOOM_USAGE when the file is not a document that `--json` wrote */
export function readReport(file: string): Report {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Partial<Report>;
    if (report.machine !== undefined && Array.isArray(report.results)) return report as Report;
  } catch (cause) {
    throw new KubeloomError('ERR_KUBELOOM_USAGE', `${file} cannot be read as JSON`, { cause });
  }
  const message = `${file} has no machine and results: write it with npm run bench -- --json ${file}`;
  throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
}
