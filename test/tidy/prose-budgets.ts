/**
 * Limits for the comments of each room: the first four a thousand words, the last two in all (prose.ts). A room
 * that is not named meets the goal. A limit only ever gets smaller; a room that meets the goal leaves the table.
 */
import type { ProseCounts } from './prose.ts';

/** About twice client-go's rates. */
export const PROSE_GOAL: ProseCounts = { has: 6, one: 5, its: 4, nothing: 1, nounless: 0, hanging: 0 };

export const PROSE_BUDGETS: ReadonlyMap<string, ProseCounts> = new Map([
  ['src/base', { has: 6, one: 10, its: 9.5, nothing: 2.5, nounless: 0, hanging: 0 }],
  ['src/client-go', { has: 9, one: 16, its: 9.5, nothing: 6, nounless: 2, hanging: 4 }],
  ['src/client-node', { has: 11, one: 11, its: 14, nothing: 5.5, nounless: 2, hanging: 2 }],
  ['src/controller', { has: 13.5, one: 13, its: 12, nothing: 3, nounless: 6, hanging: 3 }],
  ['src/http', { has: 8.5, one: 12.5, its: 11.5, nothing: 3, nounless: 3, hanging: 5 }],
  ['src/indexer', { has: 8.5, one: 13, its: 14.5, nothing: 3, nounless: 0, hanging: 4 }],
  ['src/informer', { has: 11, one: 12.5, its: 11, nothing: 2.5, nounless: 2, hanging: 22 }],
  ['src/kube', { has: 8.5, one: 12.5, its: 8, nothing: 2.5, nounless: 2, hanging: 0 }],
  ['src/metrics', { has: 12, one: 14.5, its: 14.5, nothing: 5, nounless: 2, hanging: 2 }],
  ['src/partitions', { has: 16, one: 14, its: 14, nothing: 3, nounless: 3, hanging: 5 }],
  ['src/reflector', { has: 8, one: 15.5, its: 13, nothing: 4, nounless: 2, hanging: 6 }],
  ['src/replica', { has: 13, one: 18, its: 12.5, nothing: 4.5, nounless: 9, hanging: 17 }],
  ['src/shared', { has: 11.5, one: 11.5, its: 13, nothing: 3.5, nounless: 3, hanging: 5 }],
  ['src/thread', { has: 19, one: 14.5, its: 14.5, nothing: 3, nounless: 3, hanging: 4 }],
  ['src/tools/apiserver', { has: 9.5, one: 11, its: 10, nothing: 3.5, nounless: 2, hanging: 6 }],
  ['src/tools/cli', { has: 7.5, one: 15.5, its: 11.5, nothing: 3, nounless: 5, hanging: 4 }],
  ['src/tools/loadtest', { has: 8.5, one: 14.5, its: 13.5, nothing: 4.5, nounless: 8, hanging: 13 }],
  ['src/workqueue', { has: 9.5, one: 9, its: 12, nothing: 2.5, nounless: 2, hanging: 2 }],
  ['workers', { has: 6, one: 19.5, its: 19.5, nothing: 1, nounless: 0, hanging: 0 }],
]);
