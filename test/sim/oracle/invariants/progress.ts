/** I2: after the last fault every handler receives every change in time. L2: before that no silence is too long. */
import type { HandlerView, JudgeOptions, RunView } from '../run-view.ts';
import { violation } from '../violation.ts';
import type { Violation } from '../violation.ts';

export function checkProgress({ histories, handlers, options }: RunView): Violation[] {
  const healedAt = Math.max(0, ...histories.faults.map(({ healedAt = 0 }) => healedAt));
  return handlers.flatMap((handler) =>
    handler.isRemoved
      ? []
      : [
          ...checkConvergence(handler, healedAt, histories, options),
          ...checkSilence(handler, histories, options),
        ],
  );
}

/** Uses the handlers' last notifications; the cache records no times. */
function checkConvergence(
  { name, changes, informer }: HandlerView,
  healedAt: number,
  { commits }: RunView['histories'],
  { convergenceMs }: JudgeOptions,
): Violation[] {
  const last = informer.truth.events.at(-1);
  if (convergenceMs === undefined || last === undefined) return [];
  const committedAt = commits.findLast(({ revision }) => revision === last.revision)?.at ?? 0;
  const told = changes.find(({ revision }) => revision === last.revision);
  const lateMs = (told?.at ?? 0) - Math.max(healedAt, committedAt);
  if (lateMs <= convergenceMs) return [];
  return [
    violation(
      'I2',
      `${name} received the last change ${lateMs.toFixed(0)} ms after the last fault`,
      told?.at,
    ),
  ];
}

/** Times at which the truth changed and the handler received nothing for too long. */
function checkSilence(
  { name, changes, informer, registered }: HandlerView,
  { commits }: RunView['histories'],
  { progressMs }: JudgeOptions,
): Violation[] {
  if (progressMs === undefined) return [];
  const moved = commits.flatMap(({ revision, at }) =>
    at !== undefined && informer.truth.at(revision) ? [at] : [],
  );
  const told = changes.flatMap(({ at }) => (at === undefined ? [] : [at]));
  let heard = 0;
  for (const at of moved) {
    if (at < (registered.at ?? 0)) continue;
    while ((told[heard] ?? Infinity) < at) heard++;
    const silentMs = (told[heard] ?? Infinity) - at;
    if (silentMs <= progressMs) continue;
    return [violation('L2', `${name} received nothing for ${silentMs.toFixed(0)} ms after a change`, at)];
  }
  return [];
}
