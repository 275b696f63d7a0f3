/** The oracle: returns all violations in the records of a run. It is pure, so that it can be tested itself. */
import type { Histories } from './histories.ts';
import { checkAccount } from './invariants/account.ts';
import { checkMetrics } from './invariants/metrics.ts';
import { checkNotifications } from './invariants/notifications.ts';
import { checkProgress } from './invariants/progress.ts';
import { checkRequests } from './invariants/requests.ts';
import { checkShards } from './invariants/shards.ts';
import { checkSnapshots } from './invariants/snapshots.ts';
import { checkCachedStates, checkDeliveredStates } from './invariants/states.ts';
import { checkBounds, checkSurfacing } from './invariants/surfacing.ts';
import { checkWireMetrics } from './invariants/wire-metrics.ts';
import { viewOf } from './run-view.ts';
import type { JudgeOptions } from './run-view.ts';
import type { Violation } from './violation.ts';

export type { JudgeOptions } from './run-view.ts';

export function judge(histories: Histories, options: JudgeOptions = {}): readonly Violation[] {
  const { informers, handlers } = viewOf(histories);
  return [
    ...handlers.flatMap(checkDeliveredStates),
    ...informers.flatMap(checkCachedStates),
    ...handlers.flatMap(checkNotifications),
    ...handlers.flatMap(checkAccount),
    ...informers.flatMap(checkSnapshots),
    ...informers.flatMap((informer) => checkRequests(informer, options)),
    ...handlers.flatMap((handler) => checkProgress(handler, options, histories)),
    ...checkBounds(histories),
    ...checkSurfacing(histories, options),
    ...checkShards(histories),
    ...checkMetrics(histories, informers),
    ...checkWireMetrics(histories, informers, options),
  ];
}
