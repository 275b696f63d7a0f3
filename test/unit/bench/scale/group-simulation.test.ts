/** The simulation of members that share partitions: what must hold in each run of it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LEASE_MS, RENEW_MS, simulate } from '../../../../bench/scale/group-simulation.ts';
import type { GroupPlan } from '../../../../bench/scale/group-simulation.ts';

const PLAN: GroupPlan = { members: 4, partitions: 16, syncMs: 500, drainMsMax: 1000 };
const REQUESTS_MS = 75;
const SEEDS = [1, 2, 3, 4, 5];

describe('a group', () => {
  test('has a gap of a lease and of lists for each partition of a killed member', () => {
    for (const seed of SEEDS) {
      const { orphanGapsMs, movedGapsMs, partitionsMax } = simulate(PLAN, 'kill', seed);
      assert.deepEqual([orphanGapsMs.length, partitionsMax], [4, 6]);
      for (const gap of orphanGapsMs)
        assert.ok(gap >= LEASE_MS - RENEW_MS && gap <= LEASE_MS + REQUESTS_MS + 4 * PLAN.syncMs, String(gap));
      for (const gap of movedGapsMs) assert.ok(gap < LEASE_MS - RENEW_MS, String(gap));
    }
  });

  test('hands over the partitions of a leaving member within its drain and the lists', () => {
    for (const seed of SEEDS) {
      const { orphanGapsMs } = simulate(PLAN, 'leave', seed);
      assert.equal(orphanGapsMs.length, 4);
      for (const gap of orphanGapsMs)
        assert.ok(gap <= PLAN.drainMsMax + 2 * REQUESTS_MS + 4 * PLAN.syncMs, String(gap));
    }
  });

  test('gives a new member its part without a wait for leases', () => {
    for (const seed of SEEDS) {
      const { orphanGapsMs, movedGapsMs, partitionsMax } = simulate(PLAN, 'join', seed);
      assert.ok(orphanGapsMs.length === 0 && movedGapsMs.length >= 3 && partitionsMax === 4);
      for (const gap of movedGapsMs) assert.ok(gap <= REQUESTS_MS + 5 * PLAN.syncMs, String(gap));
    }
  });

  test('has all partitions active and evenly divided after each member was replaced', () => {
    const { orphanGapsMs, partitionsMax } = simulate(PLAN, 'replace', 1);
    assert.equal(partitionsMax, 4);
    assert.equal(orphanGapsMs.length, PLAN.partitions);
  });

  test('leaves members without a partition when there are more of them', () => {
    const { partitionsMax } = simulate({ ...PLAN, members: 50 }, 'leave', 1);
    assert.equal(partitionsMax, 1);
  });

  test('runs in the same way again with the same seed', () => {
    assert.deepEqual(simulate(PLAN, 'kill', 7), simulate(PLAN, 'kill', 7));
  });
});
