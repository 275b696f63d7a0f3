/** Steps that are carried out one after the other, whatever becomes of the others, and their outcomes as a table. */
import { messageOf } from '../../src/base/errors.ts';

export interface Step {
  readonly name: string;
  /** Returns what was found, in a few words. Throws the reason against it. */
  readonly work: () => Promise<string>;
}

export interface StepOutcome {
  readonly name: string;
  readonly found: string;
  readonly seconds: number;
  /** undefined: the step succeeded. */
  readonly reason: string | undefined;
}

/** @param onOutcome called after each step */
export async function carryOut(
  steps: readonly Step[],
  onOutcome: (outcome: StepOutcome) => void = () => {},
): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  for (const { name, work } of steps) {
    const start = performance.now();
    const end = await work().then(
      (found) => ({ found, reason: undefined }),
      (error: unknown) => ({ found: '', reason: messageOf(error) }),
    );
    const outcome = { name, seconds: (performance.now() - start) / 1000, ...end };
    outcomes.push(outcome);
    onOutcome(outcome);
  }
  return outcomes;
}

/** Returns a line for each step: `ok` or `FAILED`, seconds, name, and what was found. */
export function tableOf(outcomes: readonly StepOutcome[]): string {
  const width = Math.max(...outcomes.map(({ name }) => name.length));
  return outcomes
    .map(({ name, found, seconds, reason }) => {
      const verdict = reason === undefined ? 'ok    ' : 'FAILED';
      return `${verdict}  ${seconds.toFixed(0).padStart(4)} s  ${name.padEnd(width)}  ${found}`.trimEnd();
    })
    .join('\n');
}

/** Returns the reasons of the steps that failed, as a list. */
export function reasonsOf(outcomes: readonly StepOutcome[]): string {
  return outcomes
    .flatMap(({ name, reason }) => (reason === undefined ? [] : [`- ${name}: ${reason.trim()}`]))
    .join('\n');
}
