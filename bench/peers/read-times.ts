/** Lists by label and scans of everything, cold and warm, in the words of the Go program. */
import type { OutcomeRow } from '../task.ts';

/** Of the warm calls, whose median counts. */
const WARM_ROUNDS = 5;

/** @param call returns how many it found */
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
