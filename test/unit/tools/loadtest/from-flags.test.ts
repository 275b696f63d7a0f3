/** The workload of the flags: the same load as before there were workloads. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { workloadOfFlags } from '../../../../src/tools/loadtest/workload/from-flags.ts';
import { readWorkload } from '../../../../src/tools/loadtest/workload/read-workload.ts';

it('flags are a workload with one kind, one group of informers and one rate', () => {
  const yaml = workloadOfFlags({
    objects: 300,
    objectBytes: 700,
    rate: 50_000,
    durationSeconds: 0.5,
    informers: 3,
    threads: 0,
  });
  const { objects, watchers, phases, limits } = readWorkload(yaml, 'flags', { seed: 42 }, 7).workload;
  const kinds = objects.map(({ kind, count, size }) => [kind, count, size]);
  assert.deepEqual(kinds, [['ConfigMap', 300, { distribution: 'constant', bytes: 700 }]]);
  const groups = watchers.map(({ count, processes, threads, list }) => [count, processes, threads, list]);
  assert.deepEqual(groups, [[3, 1, 0, 'watchlist']]);
  const types = phases.map(({ type }) => type);
  assert.deepEqual(types, ['create', 'sync', 'steady']);
  const [, , steady] = phases;
  assert.ok(steady?.type === 'steady');
  assert.equal(steady.durationMs, 500);
  assert.deepEqual(steady.load.mix, { create: 5, update: 90, status: 0, delete: 5 });
  assert.deepEqual(limits, { objectsMax: 600, ratePerSecondMax: 50_000 });
});
