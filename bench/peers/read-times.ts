/** Times of lists by label and scans of all objects, cold and warm, under the names of the Go program. */
import type { OutcomeRow } from '../task.ts';

/** Number of warm calls; their median is published. */
const WARM_ROUNDS = 5;

/** @param call returns the number of objects that it found */
export function readTimes(name: string, objects: number, call: () => number): OutcomeRow[] {
  const times: number[] = [];
  let found = 0;
  for (let round = 0; round <= WARM_ROUNDS; round++) {
    const startedAt = performance.now();
    found = call();
    times.push(performance.now() - startedAt);
  }
  const [cold = 0, ...warm] = times;
  const median = warm.toSorted((one, other) => one - other)[Math.floor(warm.length / 2)] ?? 0;
  const title = `${name}/objects=${objects}/found=${found}`;
  return [
    { case: `${title}/cold`, value: cold, unit: 'ms' },
    { case: `${title}/warm`, value: median, unit: 'ms' },
  ];
}
