/** Mutants of the clauses about the budget of backlogs. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const BACKLOG_MUTANTS: readonly Mutant[] = inFiles({
  'src/replica/deliver/pending.ts': { C179: ['node.position = position;', 'node.first = first;'] },
  'src/replica/merge/drain.ts': { C416: ['> BLOCKED_MS', '> Infinity'] },
});
