/** Tests the rules of partitions in every order of events, and proves that the checker finds wrong rules. */
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { newPartition } from '../../../src/partitions/partition-state.ts';
import type { PartitionRules } from '../../../src/partitions/partition-state.ts';
import { partitionStep } from '../../../src/partitions/partition-step.ts';
import { PartitionModel } from './partition-model.ts';
import { TICK_MS } from './partition-model-world.ts';
import type { Bounds, CheckResult, Protocol } from './partition-model.ts';

/** client-go's proportions. Only the preferred owner takes a partition, unless a test says otherwise. */
const RULES: Omit<PartitionRules, 'identity'> = {
  leaseDurationMs: 3 * TICK_MS,
  renewDeadlineMs: 2 * TICK_MS,
  retryPeriodMs: TICK_MS,
  coverAfterMs: 100 * TICK_MS,
  drainTimeoutMs: 100 * TICK_MS,
  releaseOnCancel: true,
};
const COVERING: typeof RULES = { ...RULES, coverAfterMs: TICK_MS };
/** The lease's duration, a call that gets no answer, a pause, the wait of a member that covers, and a release. */
const PROGRESS_TICKS = 3 + 1 + 1 + 1 + 1;

function check(protocol: Partial<Protocol>, bounds: Partial<Bounds>): CheckResult {
  const { first = ['a'], second = first, ticksMax = 5, faultsMax = 1, progressTicks } = bounds;
  const full = { step: partitionStep, rules: RULES, ...protocol };
  return new PartitionModel(full, { first, second, ticksMax, faultsMax, progressTicks }).check();
}

describe('the rules of partitions', () => {
  const CASES: readonly [string, Partial<Protocol>, Partial<Bounds>][] = [
    ['while its preferred owner changes, with a fault', {}, { second: ['b'], ticksMax: 3 }],
    ['while the other member covers it, with a fault', { rules: COVERING }, { ticksMax: 5 }],
    [
      'while its preferred owner changes, however long that takes',
      {},
      { second: ['b'], ticksMax: 64, faultsMax: 0 },
    ],
    ['and one of two partitions moves', {}, { first: ['a', 'b'], second: ['a', 'a'], faultsMax: 0 }],
    [
      'and two partitions change places',
      {},
      { first: ['a', 'b'], second: ['b', 'a'], ticksMax: 1, faultsMax: 0 },
    ],
  ];
  for (const [title, protocol, bounds] of CASES) {
    test(`C228 C230 two members never work on one partition, and no two works have one epoch, ${title}`, (t) => {
      const { stateCount, takenCount, broken } = check(protocol, bounds);
      t.diagnostic(`${stateCount} states, ${takenCount} after a change of the owner`);
      assert.equal(broken, undefined, broken?.join('\n'));
      assert.ok(takenCount > 0, 'no partition changed its owner: nothing was proved');
    });
  }

  test('C233 a partition has an owner within the lease duration and four periods, whatever has happened before', () => {
    const { broken } = check({ rules: COVERING }, { ticksMax: 4, progressTicks: PROGRESS_TICKS });
    assert.equal(broken, undefined, broken?.join('\n'));
  });
});

const byTimestamps: typeof partitionStep = (state, event, moment, rules) => {
  const next = partitionStep(state, event, moment, rules);
  if (next.state.kind !== 'free' || !next.state.observed) return next;
  const { stored } = next.state.observed;
  return { ...next, state: { ...next.state, observed: { stored, atMs: Number(stored.record.renewTime) } } };
};

const releasedEarly: typeof partitionStep = (state, event, moment, rules) => {
  const next = partitionStep(state, event, moment, rules);
  if (next.state.kind !== 'draining') return next;
  const released = partitionStep(next.state, { type: 'worked', failure: undefined }, moment, rules);
  return { ...released, effects: [...next.effects, ...released.effects] };
};

const sameEpoch: typeof partitionStep = (state, event, moment, rules) => {
  const next = partitionStep(state, event, moment, rules);
  const effects = next.effects.map((effect) =>
    effect.type === 'update' ? { ...effect, draft: { ...effect.draft, leaseTransitions: 0 } } : effect,
  );
  return { ...next, effects };
};

const fromTheAnswer: typeof partitionStep = (state, event, moment, rules) => {
  if (state.kind !== 'claiming' || state.election.pace.kind !== 'calling')
    return partitionStep(state, event, moment, rules);
  const pace = { ...state.election.pace, sentMs: moment.nowMs };
  const later = { ...state, election: { ...state.election, pace } };
  return partitionStep(event.type === 'answered' ? later : state, event, moment, rules);
};

const forgetful: typeof partitionStep = (state, event, moment, rules) => {
  const next = partitionStep(state, event, moment, rules);
  return next.state.kind === 'aborted' ? { ...next, state: newPartition(moment.nowMs) } : next;
};

describe('the checker finds wrong rules', () => {
  const CHANGE: Partial<Bounds> = { second: ['b'] };
  const BROKEN: readonly [string, RegExp, Partial<Protocol>, Partial<Bounds>][] = [
    [
      'an owner renews until the lease of others ends, and later',
      /two members/,
      { rules: { ...RULES, renewDeadlineMs: 5 * TICK_MS } },
      CHANGE,
    ],
    ['times in the record are compared with the own clock', /two members/, { step: byTimestamps }, CHANGE],
    [
      'a partition is released before its work has ended',
      /two members/,
      { step: releasedEarly },
      { ...CHANGE, faultsMax: 0 },
    ],
    ['a lease counts from the answer, not from the request', /two members/, { step: fromTheAnswer }, CHANGE],
    ['a claim does not count', /have epoch 0/, { step: sameEpoch }, { ...CHANGE, faultsMax: 0 }],
    ['a partition is claimed again while an aborted work runs', /two works/, { step: forgetful }, {}],
    [
      'a lease is left alone for too long',
      /no owner/,
      { rules: { ...COVERING, leaseDurationMs: 9 * TICK_MS } },
      { progressTicks: PROGRESS_TICKS },
    ],
  ];
  for (const [fault, promise, protocol, bounds] of BROKEN) {
    test(`when ${fault}`, () => assert.match(check(protocol, bounds).broken?.at(-1) ?? 'nothing', promise));
  }
});
