/** The frame of `kubeloom top`, from made-up snapshots. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { MetricFamily, MetricSample } from '../../../src/base/metrics/collect.ts';
import type { MetricLabels } from '../../../src/base/metrics/table.ts';
import { METRIC_DEFINITIONS } from '../../../src/base/metrics/table.ts';
import type { MetricName } from '../../../src/base/metrics/table.ts';
import { frame, plainLine, sparkline, stepTop } from '../../../src/cli/top-frame.ts';
import type { TopState } from '../../../src/cli/top-frame.ts';
import type { StatsSnapshot } from '../../../src/base/metrics/snapshot.ts';

const START_MS = Date.UTC(2026, 0, 1, 12);
const PODS = { name: 'pods', group: '', version: 'v1', resource: 'pods' };
const NODES = { name: 'nodes', group: '', version: 'v1', resource: 'nodes' };
const BOUNDS = [0.001, 0.01, 0.1];

type Values = Partial<Record<MetricName, readonly (readonly [MetricLabels, MetricSample['value']])[]>>;

function families(values: Values): MetricFamily[] {
  return METRIC_DEFINITIONS.flatMap((definition) => {
    const samples = values[definition.name]?.map(([labels, value]) => ({ labels, value }));
    return samples ? [{ ...definition, samples }] : [];
  });
}

/** Two informers and a shard after `second` seconds: pods have 100 events a second, nodes none. */
function snapshot(second: number, errors: StatsSnapshot['errors'] = []): StatsSnapshot {
  const queue = { name: 'keys' };
  const shard = { threads: 'threads', role: 'shard 0' };
  return {
    atMs: START_MS + second * 1000,
    errors,
    families: families({
      kubeloom_informer_objects: [
        [PODS, 12_345],
        [NODES, 20_000],
      ],
      kubeloom_informer_phase: [
        [{ ...PODS, phase: 'watching' }, 1],
        [{ ...NODES, phase: 'listing' }, 1],
      ],
      kubeloom_informer_stale: [
        [PODS, 0],
        [NODES, 1],
      ],
      kubeloom_informer_lag_seconds: [
        [PODS, 0.2],
        [NODES, 130],
      ],
      kubeloom_informer_records_total: [
        [PODS, 100 * second],
        [NODES, 7],
      ],
      kubeloom_errors_total: [
        [{ ...NODES, code: 'A' }, 2],
        [{ ...NODES, code: 'B' }, 3],
      ],
      informer_queued_items: [
        [PODS, 5],
        [NODES, 0],
      ],
      workqueue_depth: [[queue, 3]],
      workqueue_queue_duration_seconds: [
        [queue, { bounds: BOUNDS, counts: [0, 100 * second, 0, 0], sum: second }],
      ],
      kubeloom_thread_cpu_seconds_total: [[shard, 0.25 * second]],
      kubeloom_ring_used_bytes: [[{ threads: 'threads', ring: 'deltas 0' }, 1024]],
      kubeloom_ring_capacity_bytes: [[{ threads: 'threads' }, 4096]],
    }),
  };
}

function state(...seconds: readonly number[]): TopState {
  const first: TopState = { title: 'kubeloom top', sort: 'name', snapshots: [] };
  return seconds.reduce<TopState>(
    (before, second) => stepTop(before, { type: 'snapshot', snapshot: snapshot(second) }),
    first,
  );
}

describe('the frame of kubeloom top', () => {
  test('shows a row for each informer and thread, with rates of the last seconds', () => {
    assert.deepEqual(frame(state(1, 2, 3), 140, 40), [
      'kubeloom top · 12:00:03',
      '',
      'INFORMER   PHASE             OBJECTS   EVENTS/S   LAG      BACKLOG   ERRORS   LAST MINUTE',
      'nodes      listing (stale)   20,000    0          130 s    0         5        ▁▁',
      'pods       watching          12,345    100        200 ms   5         0        ██',
      '',
      'THREAD            CPU    RECORDS/S   RING   RESTARTS',
      'threads shard 0   25 %   0           25 %   0',
      '',
      'QUEUE   DEPTH   ADDS/S   WAIT P99   WORK P99',
      'keys    3       0        9.9 ms     –',
      '',
      'sort by: n name, o objects, e events, b backlog · q quit',
    ]);
  });

  test('sorts by the column of a key, the highest first, and ignores other keys', () => {
    const names = (sorted: TopState): string[] =>
      frame(sorted, 140, 40)
        .slice(3, 5)
        .map((line) => line.split(' ')[0] ?? '');
    const byEvents = stepTop(state(1, 2), { type: 'key', key: 'e' });
    assert.deepEqual(names(byEvents), ['pods', 'nodes']);
    assert.deepEqual(names(stepTop(byEvents, { type: 'key', key: 'x' })), ['pods', 'nodes']);
    assert.deepEqual(names(stepTop(byEvents, { type: 'key', key: 'o' })), ['nodes', 'pods']);
  });

  test('fits the terminal, the keys included, whatever its size', () => {
    for (const [columns, rows] of [
      [20, 5],
      [80, 7],
      [1, 1],
      [200, 60],
    ] as const) {
      const lines = frame(state(1, 2), columns, rows);
      assert.ok(
        lines.length <= rows && lines.every((line) => line.length <= columns),
        `${columns} × ${rows}`,
      );
    }
  });

  test('shows the last errors, without control characters', () => {
    const errors = [
      { atMs: START_MS, informer: 'pods', code: 'ERR_KUBELOOM_TLS', message: 'red \u001b[31m' },
    ];
    const lines = frame(stepTop(state(1), { type: 'snapshot', snapshot: snapshot(2, errors) }), 100, 40);
    assert.ok(lines.some((line) => /^12:00:00 {2}pods {2}ERR_KUBELOOM_TLS {2}red .*\[31m$/.test(line)));
    assert.ok(!lines.join('').includes('\u001b'));
  });

  test('is a title before the first snapshot, and has no rates before the second', () => {
    assert.deepEqual(frame(state(), 80, 24), ['kubeloom top']);
    assert.match(frame(state(1), 140, 24)[4] ?? '', /^pods +watching +12,345 +0 /);
  });

  test('keeps snapshots of the last minute only', () => {
    const long = state(...Array.from({ length: 200 }, (_, second) => second));
    assert.equal(long.snapshots.length, 61);
  });
});

test('the line for a program sums up all informers', () => {
  assert.equal(plainLine(state(1, 2)), '32,345 objects, 100 events/s, backlog 5, lag 130 s');
});

test('a sparkline has a full block for the highest of its values, and the last sixty of them', () => {
  assert.equal(sparkline([0, 5, 10]), '▁▅█');
  assert.equal(sparkline([]), '');
  assert.equal(sparkline(Array.from({ length: 70 }, () => 1)).length, 60);
});
