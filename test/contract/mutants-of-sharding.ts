/** Mutants of the clauses about sharded watches. */
import { inFiles } from './mutant.ts';
import type { Mutant } from './mutant.ts';

const DROP = "if (this.shardFilter?.admits(bytes, spans) === false) return 'written';";
const STORE = 'return this.#router.offerObject(';

export const SHARDING_MUTANTS: readonly Mutant[] = inFiles({
  'src/kube/shard-filter.ts': { C227: ['Math.floor(product / WORD)', '0'] },
  'src/reflector/object-writer.ts': {
    C223: [`${DROP} ${STORE}`, STORE],
    C226: [`${DROP} ${STORE}`, `${DROP.replace('written', 'skipped')} ${STORE}`],
  },
  'src/reflector/shard-filter-guard.ts': {
    C224: ["this.#become('ignored');", ''],
    C225: ['if (isOwn)', 'if (isOwn || this.#hasOwn)'],
  },
  'src/reflector/watch-body.ts': {
    // kubernetes/kube-state-metrics#2973: the filter took the bookmarks of a shard as well.
    C435: [
      'return this.#bookmark(bytes);',
      'return this.#owner.writer.shardFilter ? true : this.#bookmark(bytes);',
    ],
  },
  'src/kube/shard-selector.ts': { C224: [".join(' || ')", ".join(' | ')"] },
});
