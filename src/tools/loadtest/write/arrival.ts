/** The due times of writes: an open loop, whose times do not depend on answers. Pure. */
import type { Random } from '../../../base/clock.ts';
import type { Load } from '../workload/workload.ts';

const STEP_MS = 1000;

/** Yields the times of all writes of a phase, ascending, in milliseconds from the start of the phase. */
export function* arrivals(
  { rate, arrival }: Pick<Load, 'rate' | 'arrival'>,
  durationMs: number,
  random: Random,
): Generator<number> {
  const steps = Math.max(1, Math.ceil(durationMs / STEP_MS));
  const { fromPerSecond: from, toPerSecond: to } = rate;
  let owed = 0;
  let nextMs = 0;
  for (let step = 0; step < steps; step++) {
    const startMs = step * STEP_MS;
    const endMs = Math.min(durationMs, startMs + STEP_MS);
    const perSecond = steps === 1 ? from : from + ((to - from) * step) / (steps - 1);
    if (arrival === 'poisson') {
      nextMs = Math.max(nextMs, startMs);
      // A gap that reaches into the next step is drawn again at the step: an exponential gap is memoryless.
      for (;;) {
        nextMs += (-Math.log(1 - random()) * 1000) / perSecond;
        if (nextMs >= endMs) break;
        yield nextMs;
      }
      nextMs = endMs;
      continue;
    }
    owed += (perSecond * (endMs - startMs)) / 1000;
    const count = Math.round(owed);
    owed -= count;
    for (let index = 0; index < count; index++) yield startMs + (index * (endMs - startMs)) / count;
  }
}
