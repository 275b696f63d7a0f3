/**
 * Limits for the comments of each room: the first four a thousand words, the last two in all (prose.ts). A room
 * that is not named meets the goal. A limit only ever gets smaller; a room that meets the goal leaves the table.
 */
import type { ProseCounts } from './prose.ts';

/** About twice client-go's rates. */
export const PROSE_GOAL: ProseCounts = { has: 6, one: 5, its: 4, nothing: 1, nounless: 0, hanging: 0 };

export const PROSE_BUDGETS: ReadonlyMap<string, ProseCounts> = new Map([
  ['src/informer', { has: 10.5, one: 11.5, its: 10.5, nothing: 2, nounless: 1, hanging: 21 }],
]);
