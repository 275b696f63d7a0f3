/** The part of a failed step's output that a reader needs: the lines that name failures, and the end. Pure. */

const NAMES_A_FAILURE = /^ *(FAILED|FAULT|SURVIVED|TIMED OUT|INVALID|failed|WRONG|not ok|error TS)|✖|✗/;
const NAMED_MAX = 40;
const LAST = 60;

/** Returns the lines that name failures, at most 40, then the last 60 lines. */
export function failuresIn(output: string): string {
  const lines = output.trimEnd().split('\n');
  const last = lines.slice(-LAST);
  const named = lines.slice(0, -LAST).filter((line) => NAMES_A_FAILURE.test(line));
  return [...named.slice(-NAMED_MAX), ...last].join('\n');
}
