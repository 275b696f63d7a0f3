/** Mutants of the clauses about slots. The model has more of them: wrong rules, which it must find. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

export const SLOT_MUTANTS: readonly Mutant[] = inFiles({
  'src/controller/slots/slot-runner.ts': {
    C228: ['work?.lost.abort(error);', ''],
  },
  'src/controller/slots/slot-group.ts': {
    C228: ['this.#wantSameDivision(lease);', ''],
  },
  'src/controller/queueing.ts': {
    C228: ['keysOf(object).filter((key) =>', 'keysOf(object).filter((key) => true ||'],
    C231: [
      'filter.matchesText(object.uid) ? keysOf(object) : []',
      "filter.key === 'namespace' ? keysOf(object) : []",
    ],
  },
  'src/controller/slots/sharded-manager.ts': {
    C229: ['await caches.current(set.handles);', ''],
  },
  'src/controller/slots/slot-caches.ts': {
    C229: ['if (!isNew)', 'if (false)'],
    C234: ['if (await abortable(this.#isFiltering(), signal))', 'if (true)'],
  },
  'src/controller/slots/quiet-watch.ts': {
    C229: ["events.findLast(({ type }) => type !== 'BOOKMARK')", 'undefined'],
  },
  'src/controller/slots/slot-step.ts': {
    C230: ['.leaseTransitions + 1', '.leaseTransitions'],
  },
  'src/controller/object-client.ts': {
    C232: ['fence.throwIfAborted();', ''],
  },
  'src/controller/slots/slot-state.ts': {
    C233: ['+ rules.coverAfterMs', '+ 9 * rules.coverAfterMs'],
  },
});
