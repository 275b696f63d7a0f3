/** I2: after the last fault every handler receives every change in time. L2: before that no silence is too long. */
import type { Histories } from '../histories.ts';
import type { HandlerView, JudgeOptions } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkProgress(
  handler: HandlerView,
  options: JudgeOptions,
  histories: Histories,
): Violation[] {
  if (handler.isRemoved) return [];
  return [...checkConvergence(handler, histories, options), ...checkSilence(handler, histories, options)];
}

/** Uses the handlers' last notifications; the cache records no times. */
function checkConvergence(
  { name, changes, informer }: HandlerView,
  { commits, faults }: Histories,
  { convergenceMs }: JudgeOptions,
): Violation[] {
  const last = informer.truth.events.at(-1);
  if (convergenceMs === undefined || last === undefined) return [];
  const committedAt = commits.findLast(({ revision }) => revision === last.revision)?.at ?? 0;
  const calmAt = Math.max(committedAt, ...faults.map(({ healedAt = 0 }) => healedAt));
  const at = changes.find(({ revision }) => revision === last.revision)?.at ?? 0;
  if (at - calmAt <= convergenceMs) return [];
  const late = `${(at - calmAt).toFixed(0)} ms after the last fault`;
  return [violation('I2', `${name} received the last change ${late}`, at)];
}

/** Finds times at which the truth changed and the handler received nothing for too long. */
function checkSilence(
  { name, changes, informer, registered }: HandlerView,
  { commits }: Histories,
  { progressMs }: JudgeOptions,
): Violation[] {
  if (progressMs === undefined) return [];
  const moved = commits.flatMap(({ revision, at }) =>
    at !== undefined && informer.truth.at(revision) ? [at] : [],
  );
  const received = changes.flatMap(({ at }) => (at === undefined ? [] : [at]));
  let next = 0;
  for (const at of moved) {
    if (at < (registered.at ?? 0)) continue;
    while ((received[next] ?? Infinity) < at) next++;
    const silentMs = (received[next] ?? Infinity) - at;
    if (silentMs <= progressMs) continue;
    return [violation('L2', `${name} received nothing for ${silentMs.toFixed(0)} ms after a change`, at)];
  }
  return [];
}
