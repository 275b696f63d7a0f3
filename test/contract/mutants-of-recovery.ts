/** Mutants of the clauses about threads that die. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const RECOVERY_MUTANTS: readonly Mutant[] = inFiles({
  'src/indexer/shard.ts': {
    C173: ['compareU32(sequenceOf(ring), after) <= 0', 'compareU32(sequenceOf(ring), after) <= 1'],
    C175: ['informer && this.#quarantined.includes(delta.sequence)', 'false'],
  },
  'src/reflector/rules/state.ts': {
    C174: ["resume === undefined || resume.resourceVersion === '' ? 'sync' : 'watch'", "'sync'"],
  },
  'src/informer/threads/supervisor-step.ts': {
    C176: ['recentMs.length >= limits.restartsMax', 'false'],
    C178: ['restarts: history.restarts + 1', 'restarts: history.restarts'],
  },
  'src/informer/threads/supervisor.ts': {
    C177: ['Math.min(clock.now() - this.#tickedMs, this.#tickMs)', 'clock.now() - this.#tickedMs'],
  },
});
