/**
 * Limits for the comments of each room: the first four a thousand words, the last two in all (prose.ts). A room
 * that is not named meets the goal. A limit only ever gets smaller; a room that meets the goal leaves the table.
 */
import type { ProseCounts } from './prose.ts';

/** About twice client-go's rates. */
export const PROSE_GOAL: ProseCounts = { has: 6, one: 5, its: 4, nothing: 1, nounless: 0, hanging: 0 };

export const PROSE_BUDGETS: ReadonlyMap<string, ProseCounts> = new Map([
  ['src/client-go', { has: 10, one: 17, its: 10.5, nothing: 7, nounless: 3, hanging: 5 }],
  ['src/client-node', { has: 12, one: 12, its: 15, nothing: 6.5, nounless: 3, hanging: 3 }],
  ['src/controller', { has: 16.5, one: 13.5, its: 14, nothing: 4.5, nounless: 7, hanging: 5 }],
  ['src/indexer', { has: 9.5, one: 14, its: 15, nothing: 4, nounless: 0, hanging: 0 }],
  ['src/informer', { has: 12, one: 13, its: 12, nothing: 3.5, nounless: 3, hanging: 23 }],
  ['src/partitions', { has: 17.5, one: 15, its: 14.5, nothing: 4.5, nounless: 4, hanging: 7 }],
  ['src/replica', { has: 14, one: 18.5, its: 13.5, nothing: 5.5, nounless: 10, hanging: 18 }],
  ['src/thread', { has: 20, one: 15.5, its: 15.5, nothing: 4, nounless: 4, hanging: 5 }],
  ['src/tools/apiserver', { has: 10.5, one: 12, its: 11, nothing: 4.5, nounless: 3, hanging: 7 }],
  ['src/tools/cli', { has: 6, one: 16.5, its: 14, nothing: 4, nounless: 6, hanging: 5 }],
  ['src/tools/loadtest', { has: 9.5, one: 15.5, its: 14.5, nothing: 5.5, nounless: 9, hanging: 14 }],
  ['workers', { has: 6, one: 20.5, its: 20.5, nothing: 1, nounless: 0, hanging: 0 }],
]);
