/** Each step of a write is measured by itself. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { latenciesOf } from '../../../src/cli/loadtest-latency.ts';
import type { Write } from '../../../src/cli/loadtest-plan.ts';
import type { Notification, NotificationKind } from '../../../src/cli/recording-handler.ts';

function called(kind: NotificationKind, revision: number, calledUs: number): Notification {
  return { kind, key: 'n/a', revision, previousRevision: 0, calledUs };
}

describe('the latency of a load test', () => {
  it('is split into due to sent, sent to answered and answered to handler', () => {
    const writes: Write[] = [
      [1, 'MODIFIED', 'a', [0, 1000, 5000]],
      [2, 'DELETED', 'a', [10_000, 12_000, 13_000]],
    ];
    const told = [
      called('MODIFIED', 1, 6000),
      called('DELETED', 2, 12_500),
      // The second informer did not receive the deletion.
      called('MODIFIED', 1, 5010),
      called('FINAL_STATE_UNKNOWN', 1, 99_000),
      // Its relist repeated the version.
      { ...called('MODIFIED', 1, 99_000), previousRevision: 1 },
    ];
    assert.deepEqual(latenciesOf(writes, told), {
      dueToSent: { p50: 1, p99: 2, max: 2 },
      sentToAnswered: { p50: 1, p99: 4, max: 4 },
      answeredToHandler: { p50: 0.01, p99: 1, max: 1 },
    });
  });

  it('is negative where the watch overtook the answer', () => {
    const told = [called('ADDED', 1, 7000)];
    const { answeredToHandler } = latenciesOf([[1, 'ADDED', 'a', [0, 0, 9000]]], told);
    assert.deepEqual(answeredToHandler, { p50: -2, p99: -2, max: -2 });
  });

  it('has quantiles that are measurements: the 99th of 200 is the third largest', () => {
    const writes = Array.from({ length: 200 }, (_, index): Write => {
      return [index, 'MODIFIED', 'a', [0, (200 - index) * 1000, 0]];
    });
    assert.deepEqual(latenciesOf(writes, []).dueToSent, { p50: 100, p99: 198, max: 200 });
  });

  it('is NaN where nothing was measured', () => {
    assert.deepEqual(latenciesOf([], []).dueToSent, { p50: NaN, p99: NaN, max: NaN });
  });
});
