/** The judgement of a program's run: undefined, or the differences from the expected run. */
import type { Outcome } from './program.ts';

/** @returns undefined when it ended with code 0 and the expected output */
export function complaint(expected: string, { stdout, stderr, end }: Outcome): string | undefined {
  const difference = firstDifference(expected, stdout);
  const parts = [
    ...(end === '0' ? [] : [`it ended with ${end}`]),
    ...(difference === undefined ? [] : [difference]),
  ];
  if (parts.length === 0) return undefined;
  return [...parts, ...(stderr === '' ? [] : [`on stderr:\n${stderr.trimEnd()}`])].join('\n');
}

export function firstDifference(expected: string, actual: string): string | undefined {
  if (expected === actual) return undefined;
  const wanted = expected.split('\n');
  const got = actual.split('\n');
  const at = wanted.findIndex((line, index) => line !== got[index]);
  const index = at < 0 ? wanted.length : at;
  return `line ${index + 1}: expected ${show(wanted[index])}, printed ${show(got[index])}`;
}

/** Returns the lines of a text; the empty piece after the last line end is no line. */
function show(line: string | undefined): string {
  return line === undefined || line === '' ? 'nothing' : JSON.stringify(line);
}
