/** The oracle: returns all violations in the records of a run. It is pure, so that it can be tested itself. */
import type { Histories } from './histories.ts';
import { checkAccounts } from './invariants/account.ts';
import { checkAsking } from './invariants/asking.ts';
import { checkChains } from './invariants/chains.ts';
import { checkContents } from './invariants/contents.ts';
import { checkProgress } from './invariants/progress.ts';
import { checkResuming } from './invariants/resuming.ts';
import { checkShards } from './invariants/shards.ts';
import { checkSnapshots } from './invariants/snapshots.ts';
import { checkBounds, checkSurfacing } from './invariants/surfacing.ts';
import { checkSyncing } from './invariants/syncing.ts';
import { checkTruthful } from './invariants/truthful.ts';
import { checkVisibility } from './invariants/visibility.ts';
import { viewOf } from './run-view.ts';
import type { JudgeOptions, RunView } from './run-view.ts';
import type { Violation } from './violation.ts';

export type { JudgeOptions } from './run-view.ts';

const CHECKS: readonly ((run: RunView) => Violation[])[] = [
  checkTruthful,
  checkChains,
  checkAccounts,
  checkVisibility,
  checkSnapshots,
  checkContents,
  checkSyncing,
  checkResuming,
  checkAsking,
  checkBounds,
  checkSurfacing,
  checkProgress,
  checkShards,
];

export function judge(histories: Histories, options: JudgeOptions = {}): readonly Violation[] {
  const run = viewOf(histories, options);
  return CHECKS.flatMap((check) => check(run));
}
