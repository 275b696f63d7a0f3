/** Prometheus' own linter and parser of rules, from the Go program in prometheus/. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { buildGoProgram } from './go-program.ts';

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

async function run(
  command: string,
  input: string,
): Promise<{ readonly errors: string; readonly output: string }> {
  const child = spawn(await buildPrometheus(), [command], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { output: output.trim(), errors: errors.trim() };
}
