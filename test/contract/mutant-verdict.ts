/** The verdict on a mutant, from the tests of its clause without and with the mutant. Pure. */
import type { TestLine } from './reporter.ts';

/**
 * - `killed`: a test failed by itself, or its process ended.
 * - `killed by standstill`: a test waited for an event that did not come in many turns of the event loop.
 * - `timed out`: the only symptom is a limit of time, which may be the machine's speed: the promise has no proof.
 * - `sick`: a test fails without the mutant, so that its failure proves nothing.
 */
export type MutantVerdict = 'killed' | 'killed by standstill' | 'survived' | 'timed out' | 'no test' | 'sick';

export function verdictOf(healthy: readonly TestLine[], mutated: readonly TestLine[]): MutantVerdict {
  if (healthy.length === 0) return 'no test';
  if (healthy.some(({ isPassed }) => !isPassed)) return 'sick';
  const failures = mutated.filter(({ isPassed }) => !isPassed);
  if (failures.some(({ isTimedOut, isStill }) => !isTimedOut && !isStill)) return 'killed';
  if (failures.some(({ isStill }) => isStill)) return 'killed by standstill';
  if (failures.length > 0) return 'timed out';
  // A process that ends early with success takes its tests with it.
  return mutated.length < healthy.length ? 'killed' : 'survived';
}
