/** The indexes of a run in a line, with the latencies that their clocks cannot measure. Pure. */
import type { IndexFacts } from '../result.ts';

/** 0 on pod-a, 1 on pod-b; answered to handler is of index 0 only */
export function indexesText(indexes: readonly IndexFacts[]): string {
  if (indexes.length === 0) return 'none of them left a part';
  const places = indexes.map(({ index, host }) => `${index} on ${host}`).join(', ');
  return `${places}; answered to handler is of index 0 only, because clocks of machines differ`;
}
