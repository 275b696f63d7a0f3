/** Mutants of the clauses about the budget of backlogs. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const BACKLOG_MUTANTS: readonly Mutant[] = inFiles({
  'src/replica/deliver/pending.ts': { C179: ['before.position = position;', 'before.first = first;'] },
  'src/replica/merge/drain.ts': {
    C416: ['> BLOCKED_MS', '> Infinity'],
    C180: ['if (!this.#backlogs.mayMerge)', 'if (false)'],
  },
  'src/replica/deliver/backlog-step.ts': { C181: ['nowMs - state.sinceMs >= backlogTimeoutMs', 'false'] },
});
