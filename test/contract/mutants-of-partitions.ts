/** Mutants of the clauses about partitions. The model has more of them: wrong rules, which it must find. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const PARTITION_MUTANTS: readonly Mutant[] = inFiles({
  'src/partitions/partition-runner.ts': {
    C228: ['work?.lost.abort(error);', ''],
  },
  'src/partitions/partition-group.ts': {
    C228: ['this.#wantSameDivision(lease);', ''],
  },
  'src/controller/queueing.ts': {
    C228: ['keysOf(object).filter((key) =>', 'keysOf(object).filter((key) => true ||'],
    C231: [
      'filter.matchesText(object.uid) ? keysOf(object) : []',
      "filter.key === 'namespace' ? keysOf(object) : []",
    ],
  },
  'src/partitions/partitioned-manager.ts': {
    C229: ['await caches.current(set.handles);', ''],
  },
  'src/partitions/partition-caches.ts': {
    C229: ['if (!isNew)', 'if (false)'],
    C234: ['if (await abortable(this.#isFiltering(), signal))', 'if (true)'],
  },
  'src/partitions/quiet-watch.ts': {
    C229: ["events.findLast(({ type }) => type !== 'BOOKMARK')", 'undefined'],
  },
  'src/partitions/partition-step.ts': {
    C230: ['.leaseTransitions + 1', '.leaseTransitions'],
  },
  'src/controller/object-client.ts': {
    C232: ["resourceVersion !== '0'", 'true'],
  },
  'src/reflector/transport/http1-connection.ts': {
    C232: ['if (this.#isRefused())', 'if (false)'],
  },
  'src/shared/fence.ts': {
    C310: ['if (remainingMs <= 0 &&', 'if (remainingMs <= -Infinity &&'],
  },
  'src/controller/object-arguments.ts': {
    C272: ['Object.values(patch).every((value) => value === undefined)', 'false'],
  },
  'src/partitions/partition-state.ts': {
    C233: ['+ rules.coverAfterMs', '+ 9 * rules.coverAfterMs'],
  },
});
