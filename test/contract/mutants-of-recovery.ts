/** Mutants of the clauses about threads that die. */
import type { Mutant } from './mutant.ts';

export const RECOVERY_MUTANTS: readonly Mutant[] = [
  {
    clause: 'C173',
    file: 'src/indexer/shard.ts',
    find: 'compareU32(sequenceOf(ring), after) <= 0',
    replace: 'compareU32(sequenceOf(ring), after) <= 1',
  },
  {
    clause: 'C174',
    file: 'src/reflector/rules/state.ts',
    find: "resume === undefined || resume.resourceVersion === '' ? 'sync' : 'watch'",
    replace: "'sync'",
  },
  {
    clause: 'C175',
    file: 'src/indexer/shard.ts',
    find: 'informer && this.#quarantined.includes(delta.sequence)',
    replace: 'false',
  },
  {
    clause: 'C176',
    file: 'src/informer/threads/supervisor-step.ts',
    find: 'recentMs.length >= limits.restartsMax',
    replace: 'false',
  },
  {
    clause: 'C177',
    file: 'src/informer/threads/supervisor.ts',
    find: 'Math.min(clock.now() - this.#tickedMs, TICK_MAX_MS)',
    replace: 'clock.now() - this.#tickedMs',
  },
  {
    clause: 'C178',
    file: 'src/informer/threads/supervisor-step.ts',
    find: 'restarts: history.restarts + 1',
    replace: 'restarts: history.restarts',
  },
];
