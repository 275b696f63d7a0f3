/** Mutants of the clauses about threads that die. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const RECOVERY_MUTANTS: readonly Mutant[] = inFiles({
  'src/indexer/shard.ts': { C175: ['this.#options.working.store(informer);', ''] },
  'src/informer/threads/informer-threads.ts': {
    C173: ['emptyPipeline(this.#memory, this.#merger.merged);', ''],
    C174: ['if (this.#running?.backends.current === backend)', 'if (true)'],
    C175: ['if (informer === culprit?.informer)', 'if (culprit)'],
  },
  'src/informer/threads/backends.ts': { C483: ['this.#options.changed();', ''] },
  'src/informer/threads/supervisor-step.ts': { C176: ['recent.length < restartsMax', 'true'] },
  'src/informer/threads/supervisor.ts': {
    C178: ['this.restartsOf(death.role) + 1', 'this.restartsOf(death.role)'],
    C177: ['Math.min(clock.now() - this.#tickedMs, this.#tickMs)', 'clock.now() - this.#tickedMs'],
  },
});
