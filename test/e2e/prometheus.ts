/** Prometheus' own linter, parser of rules and query engine, from the Go program in prometheus/. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { buildGoProgram } from './go-program.ts';

export interface Scrape {
  readonly atMs: number;
  /** Metrics in the text format. */
  readonly text: string;
}

/** Range queries over scrapes. */
export interface Queries {
  /** In the order of their times. */
  readonly scrapes: readonly Scrape[];
  /** Labels that the scraper adds to every series. */
  readonly labels: Readonly<Record<string, string>>;
  readonly queries: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Pairs of milliseconds and a value. A value that is not a finite number is left out. */
  readonly values: readonly (readonly [atMs: number, value: number])[];
}

/** Compiles the program, which takes a minute the first time. Returns its path. */
export function buildPrometheus(): Promise<string> {
  return buildGoProgram('prometheus');
}

/** Returns the problems that `promtool check metrics` would print, one a line. */
export async function checkMetrics(metrics: string): Promise<string> {
  return (await run('check-metrics', metrics)).errors;
}

/** Returns the number of rules, or what `promtool check rules` would print about them. */
export async function checkRules(rules: string): Promise<number | string> {
  const { errors, output } = await run('check-rules', rules);
  return errors === '' ? Number(output) : errors;
}

/** Evaluates the queries; returns the series of each. */
export async function evaluate(queries: Queries): Promise<readonly (readonly Series[])[]> {
  const { errors, output } = await run('query', JSON.stringify(queries));
  if (errors !== '') throw new Error(errors);
  return JSON.parse(output) as Series[][];
}

async function run(
  command: string,
  input: string,
): Promise<{ readonly errors: string; readonly output: string }> {
  const child = spawn(await buildPrometheus(), [command], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { output: output.trim(), errors: errors.trim() };
}
