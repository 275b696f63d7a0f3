/** The rules of a partition where the election's own do not decide: claims, wishes, and works that do not end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StoredRecord } from '../../../src/controller/index.ts';
import { newPartition, partitionDueMs } from '../../../src/partitions/partition-state.ts';
import type {
  PartitionEvent,
  PartitionRules,
  PartitionState,
  Wish,
} from '../../../src/partitions/partition-state.ts';
import { partitionStep } from '../../../src/partitions/partition-step.ts';

const RULES: PartitionRules = {
  identity: 'me',
  leaseDurationMs: 3000,
  renewDeadlineMs: 2000,
  retryPeriodMs: 1000,
  coverAfterMs: 500,
  drainTimeoutMs: 1000,
  releaseOnCancel: true,
};
const MINE = stored('me', 1);
const WORKED: PartitionEvent = { type: 'worked', failure: undefined };
const TICK: PartitionEvent = { type: 'tick' };

function stored(holderIdentity: string, version: number): StoredRecord {
  const times = { acquireTime: '', renewTime: String(version) };
  return {
    record: { holderIdentity, leaseDurationSeconds: 3, leaseTransitions: 7, ...times },
    source: version,
  };
}

type Happening = readonly [nowMs: number, wish: Wish, event: PartitionEvent];

/** Plays events, and returns the last state with the effects of the last step. */
function play(...happenings: readonly Happening[]): { state: PartitionState; effects: unknown[] } {
  let state: PartitionState = newPartition(0);
  let effects: unknown[] = [];
  for (const [nowMs, wish, event] of happenings) {
    const next = partitionStep(state, event, { nowMs, random: 0, wish }, RULES);
    state = next.state;
    effects = next.effects.map((effect) => effect.type);
  }
  return { state, effects };
}

/** A claim that has succeeded at 0. */
const OWNED: readonly Happening[] = [
  [0, 'own', TICK],
  [0, 'own', { type: 'answered', stored: undefined }],
  [0, 'own', { type: 'answered', stored: MINE }],
];

describe('a partition', () => {
  test('is claimed by its preferred owner at once, by another member after a wait, and never by one that leaves', () => {
    const other = play([100, 'cover', { type: 'seen', stored: stored('other', 1) }]).state;
    assert.equal(partitionDueMs(newPartition(0), 'own', RULES), 0);
    assert.equal(partitionDueMs(newPartition(0), 'cover', RULES), 500);
    assert.equal(partitionDueMs(other, 'own', RULES), 3100);
    assert.equal(partitionDueMs(other, 'cover', RULES), 3600);
    assert.equal(partitionDueMs(other, 'leave', RULES), undefined);
  });

  test('is free again when the attempt finds it held', () => {
    const { state } = play([0, 'own', TICK], [10, 'own', { type: 'answered', stored: stored('other', 1) }]);
    assert.equal(state.kind, 'free');
    assert.equal(partitionDueMs(state, 'own', RULES), 3010);
  });

  test('is syncing until its work has a complete list, and has the epoch of its lease', () => {
    assert.deepEqual(play(...OWNED).state.kind, 'syncing');
    assert.deepEqual(play(...OWNED).effects, ['start-work']);
    assert.equal(play(...OWNED, [10, 'own', { type: 'synced' }]).state.kind, 'active');
    assert.equal(play(...OWNED, [10, 'cover', TICK]).state.kind, 'syncing');
  });

  test('is drained, and released only when the work has ended', () => {
    const draining: readonly Happening[] = [...OWNED, [10, 'leave', TICK]];
    assert.deepEqual(play(...draining).effects, ['end-work']);
    assert.equal(play(...draining, [1000, 'leave', TICK]).state.kind, 'draining', 'the lease is renewed');
    assert.equal(play(...draining, [20, 'leave', WORKED]).state.kind, 'releasing');
  });

  test('is not claimed again before the work has ended that was aborted', () => {
    const aborted = play(...OWNED, [2000, 'own', TICK]);
    assert.deepEqual([aborted.state.kind, aborted.effects], ['aborted', ['end-work']]);
    const overdue = play(...OWNED, [2000, 'own', TICK], [3000, 'own', TICK]);
    assert.deepEqual([overdue.state.kind, overdue.effects], ['aborted', ['overdue']]);
    assert.equal(partitionDueMs(overdue.state, 'own', RULES), undefined);
    const free = play(...OWNED, [2000, 'own', TICK], [3000, 'own', TICK], [9000, 'own', WORKED]).state;
    assert.equal(partitionDueMs(free, 'own', RULES), 10_000);
  });

  test('stays aborted when a suspended process continues after the lease has ended', () => {
    const { state, effects } = play(...OWNED, [60_000, 'own', TICK]);
    assert.equal(state.kind, 'aborted');
    assert.deepEqual(effects, ['end-work', 'overdue']);
  });

  test('is tried again after a pause when its work has failed', () => {
    const failed: PartitionEvent = { type: 'worked', failure: { error: 'broken' } };
    const answer = { type: 'answered', stored: MINE } as const;
    const { state, effects } = play(...OWNED, [10, 'own', failed], [10, 'own', answer], [20, 'own', answer]);
    assert.deepEqual([state.kind, effects], ['free', ['report']]);
    assert.equal(partitionDueMs(state, 'own', RULES), 1020);
  });
});
