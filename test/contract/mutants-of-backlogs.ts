/** Mutants of the clauses about the budget of backlogs. */
import type { Mutant } from './mutant.ts';

export const BACKLOG_MUTANTS: readonly Mutant[] = [
  {
    clause: 'C179',
    file: 'src/replica/deliver/pending.ts',
    find: 'before.position = position;',
    replace: 'before.first = first;',
  },
  {
    clause: 'C180',
    file: 'src/replica/merge/drain.ts',
    find: 'if (!this.#backlogs.mayMerge)',
    replace: 'if (false)',
  },
  {
    clause: 'C181',
    file: 'src/replica/deliver/backlog-step.ts',
    find: 'nowMs - state.sinceMs >= backlogTimeoutMs',
    replace: 'false',
  },
];
