/** The frame of `kubeloom top`, from made-up snapshots. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MetricFamily, MetricSample } from '../../../../src/metrics/collect.ts';
import type { MetricLabels } from '../../../../src/metrics/metrics-table.ts';
import type { MetricName } from '../../../../src/metrics/metrics-table.ts';
import { widthOf } from '../../../../src/tools/cli/terminal/cells.ts';
import { frame, plainLine, shares } from '../../../../src/tools/cli/top/top-frame.ts';
import { SORT_KEYS, initialTop, stepTop } from '../../../../src/tools/cli/top/top-state.ts';
import type { TopState } from '../../../../src/tools/cli/top/top-state.ts';
import type { StatsSnapshot } from '../../../../src/metrics/snapshot.ts';

const START_MS = Date.UTC(2026, 0, 1, 12);
const PODS = { name: 'pods', group: '', version: 'v1', resource: 'pods' };
const NODES = { name: 'nodes', group: '', version: 'v1', resource: 'nodes' };
const BOUNDS = [0.001, 0.01, 0.1];

const EXPECTED: readonly string[] = [
  'kubeloom top                                                                                                          12:00:03 UTC',
  'objects 32,345    events/s 100       lag 130s    p50 5.5ms   p99 9.9ms   backlog 5         relists 2         errors 5',
  'last minute                                                           ██  up to 100 events/s',
  '',
  'INFORMER  PHASE            OBJECTS  EVENTS/S    LAG    P50    P99  BACKLOG  RELISTS  ERRORS                            LAST MINUTE',
  'nodes     stale, listing    20,000         0   130s   55ms   99ms        0        2       5                                     ▁▁',
  'pods      watching          12,345       100  200ms  5.5ms  9.9ms        5        0       0                                     ██',
  '',
  'THREAD               CPU  RECORDS/S  RING IN  RING OUT    LOG  PAUSED  RESTARTS',
  'threads main         50%',
  'threads reflector    10%                                  90%     40%',
  'threads shard 0      25%        200      25%       50%                        1',
  '',
  'QUEUE    DEPTH   ADDS/S  WAIT P99  WORK P99',
  'keys         3        –     9.9ms         –',
  '',
  '',
  '',
  '',
  '',
  '',
  'q quit ↑↓ scroll sort by: [n name]  o objects   e events/s   l lag   p p99   b backlog   r relists   x errors',
];
const EXPECTED_NARROW: readonly string[] = [
  'kubeloom top                                                        12:00:03 UTC',
  'objects 32,345    events/s 100       lag 130s    p50 5.5ms   p99 9.9ms',
  'last minute                                           ██  up to 100 events/s',
  '',
  'INFORMER  PHASE          OBJECTS  EVENTS/S    LAG    P50    P99  BACKLOG  ERRORS',
  'nodes     stale, listi…   20,000         0   130s   55ms   99ms        0       5',
  'pods      watching        12,345       100  200ms  5.5ms  9.9ms        5       0',
  '',
  'THREAD 1–1 of 3      CPU  RECORDS/S  RING IN  RING OUT    LOG  PAUSED  RESTARTS',
  'threads main         50%',
  '',
  'q quit ↑↓ scroll sort by: [n name]  o objects   e events/s   l lag   p p99',
];
const EXPECTED_SMALL: readonly string[] = [
  'kubeloom top                12:00:03 UTC',
  'objects 32,345    events/s 100',
  'last minute   ██  up to 100 events/s',
  '',
  'INFORMER  PHASE        OBJECTS  EVENTS/S',
  'nodes     stale, lis…   20,000         0',
  'pods      watching      12,345       100',
  '',
  'q quit ↑↓ scroll sort by: [n name]',
];

type Values = Readonly<Record<string, readonly (readonly [MetricLabels, MetricSample['value']])[]>>;

function families(values: Values): MetricFamily[] {
  return Object.entries(values).map(([name, samples]) => ({
    name: name as MetricName,
    type: 'gauge',
    help: '',
    labels: [],
    samples: samples.map(([labels, value]) => ({ labels, value })),
  }));
}

/** Threads of which the reflector waits often, and a queue. */
function threadsAndQueue(second: number): Values {
  const queue = { name: 'keys' };
  return {
    workqueue_depth: [[queue, 3]],
    workqueue_queue_duration_seconds: [
      [queue, { bounds: BOUNDS, counts: [0, 100 * second, 0, 0], sum: second }],
    ],
    kubeloom_thread_cpu_seconds_total: [
      [{ threads: 'threads', role: 'main' }, 0.5 * second],
      [{ threads: 'threads', role: 'reflector' }, 0.1 * second],
      [{ threads: 'threads', role: 'shard 0' }, 0.25 * second],
    ],
    kubeloom_thread_records_total: [[{ threads: 'threads', role: 'shard 0' }, 200 * second]],
    kubeloom_thread_restarts_total: [[{ threads: 'threads', role: 'shard 0' }, 1]],
    kubeloom_ring_used_bytes: [
      [{ threads: 'threads', ring: 'deltas 0' }, 1024],
      [{ threads: 'threads', ring: 'notifications 0' }, 2048],
    ],
    kubeloom_ring_capacity_bytes: [[{ threads: 'threads' }, 4096]],
    kubeloom_log_used_bytes: [[{ threads: 'threads' }, 900]],
    kubeloom_log_capacity_bytes: [[{ threads: 'threads' }, 1000]],
    kubeloom_paused_seconds_total: [
      [{ threads: 'threads', cause: 'log' }, 0.4 * second],
      [{ threads: 'threads', cause: 'ring' }, 0],
    ],
  };
}

/** Two informers and a shard after `second` seconds: pods have 100 events a second, nodes none. */
function snapshot(second: number, errors: StatsSnapshot['errors'] = []): StatsSnapshot {
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
      kubeloom_latency_seconds: [
        [
          { ...PODS, stage: 'merged' },
          { bounds: BOUNDS, counts: [100 * second, 0, 0, 0], sum: 0 },
        ],
        [
          { ...PODS, stage: 'done' },
          { bounds: BOUNDS, counts: [0, 100 * second, 0, 0], sum: 0 },
        ],
        // Nodes have no handler.
        [
          { ...NODES, stage: 'merged' },
          { bounds: BOUNDS, counts: [0, 0, 10 * second, 0], sum: 0 },
        ],
      ],
      kubeloom_lists_total: [
        [{ ...PODS, mode: 'pages', cause: 'initial', result: 'ok' }, 1],
        [{ ...NODES, mode: 'pages', cause: 'initial', result: 'ok' }, 1],
        [{ ...NODES, mode: 'pages', cause: 'expired', result: 'ok' }, 2],
      ],
      kubeloom_errors_total: [
        [{ ...NODES, code: 'A' }, 2],
        [{ ...NODES, code: 'B' }, 3],
      ],
      informer_queued_items: [
        [PODS, 5],
        [NODES, 0],
      ],
      ...threadsAndQueue(second),
    }),
  };
}

function show(before: TopState, shown: StatsSnapshot): TopState {
  return stepTop(before, { type: 'snapshot', snapshot: shown });
}

function press(before: TopState, ...keys: readonly string[]): TopState {
  return keys.reduce((state, key) => stepTop(state, { type: 'key', key }), before);
}

function stateAt(...seconds: readonly number[]): TopState {
  return seconds.reduce((before, second) => show(before, snapshot(second)), initialTop('kubeloom top'));
}

/** Informers `pods 0`, `pods 1`, …, each with as many objects. */
function manyInformers(count: number): TopState {
  const samples = Array.from({ length: count }, (_, index) => [{ name: `pods ${index}` }, index] as const);
  const values = { kubeloom_informer_objects: samples, kubeloom_informer_records_total: samples };
  return show(initialTop('kubeloom top'), { atMs: START_MS, errors: [], families: families(values) });
}

/** The names in the table of informers. */
function names(state: TopState, columns = 140, rows = 40): string[] {
  const lines = frame(state, columns, rows);
  const start = lines.findIndex((line) => line.startsWith('INFORMER')) + 1;
  return lines.slice(start, lines.indexOf('', start)).map((line) => line.split('  ')[0] ?? '');
}

describe('the frame of kubeloom top', () => {
  test('has sums, a row for each informer, thread and queue, and the keys', () => {
    assert.deepEqual(frame(stateAt(1, 2, 3), 130, 22), EXPECTED);
  });

  test('has the figures that matter most on a narrow terminal', () => {
    assert.deepEqual(frame(stateAt(1, 2, 3), 80, 12), EXPECTED_NARROW);
    assert.deepEqual(frame(stateAt(1, 2, 3), 40, 9), EXPECTED_SMALL);
  });

  test('fills the terminal exactly, whatever its size', () => {
    for (let columns = 1; columns < 220; columns += 9)
      for (let rows = 1; rows < 60; rows += 7) {
        const lines = frame(stateAt(1, 2), columns, rows);
        assert.equal(lines.length, rows, `${columns} × ${rows}`);
        assert.ok(Math.max(...lines.map(widthOf)) <= columns, `${columns} × ${rows}`);
      }
  });

  test('keeps every column and line in its place while figures change', () => {
    const headers = (state: TopState): string[] =>
      frame(state, 130, 24).filter((line) => /^[A-Z]{3}/.test(line));
    assert.deepEqual(headers(stateAt(1)), headers(stateAt(1, 2, 3_000_000)));
    const lengths = [stateAt(1), stateAt(1, 2, 3_000_000)].map((state) => frame(state, 130, 24).length);
    assert.deepEqual(lengths, [24, 24]);
  });

  test('aligns wide characters, and cuts them where a column ends', () => {
    const samples = ['集群集群集群集群集群集群', 'pods'].map((name) => [{ name }, 7] as const);
    const given = { atMs: START_MS, errors: [], families: families({ kubeloom_informer_objects: samples }) };
    const lines = frame(show(initialTop('集群'), given), 60, 12);
    const objects = lines
      .filter((line) => / 7 /.test(line))
      .map((line) => widthOf(line.slice(0, line.indexOf(' 7 '))));
    assert.equal(objects.length, 2);
    assert.equal(objects[0], objects[1]);
  });

  test('escapes control characters of names and messages', () => {
    const errors = [
      {
        atMs: START_MS,
        informer: 'pods\u001b[2J',
        code: 'ERR_KUBELOOM_TLS' as const,
        message: 'red \u001b[31m',
      },
    ];
    const samples = [[{ name: 'a\u001b[2Jb' }, 1]] as const;
    const shown = show(initialTop('\u001b[0m'), {
      atMs: START_MS,
      errors,
      families: families({ kubeloom_informer_objects: samples }),
    });
    const text = frame(stepTop(shown, { type: 'lost', reason: '\u001b[1m' }), 100, 40).join('');
    assert.match(text, /12:00:00 {2}pods\\x1b\[2J {2}ERR_KUBELOOM_TLS {2}red \\x1b\[31m/);
    assert.ok(!text.includes('\u001b'));
  });

  test('has no rates before the second snapshot', () => {
    assert.match(
      frame(stateAt(1), 140, 24).find((line) => line.startsWith('pods')) ?? '',
      /^pods +watching +12,345 +– /,
    );
    assert.deepEqual(frame(initialTop('kubeloom top'), 20, 3), ['kubeloom top', '', 'q quit ↑↓ scroll']);
  });

  test('drops the row of an informer that has ended, and its sparkline', () => {
    const without = { ...snapshot(3), families: [] };
    const ended = show(stateAt(1, 2), without);
    assert.ok(!frame(ended, 140, 24).some((line) => line.startsWith('pods')));
    const again = show(ended, { ...snapshot(3), atMs: START_MS + 4000 });
    assert.equal(again.history.events('pods').length, 1);
  });

  test('counts a counter that began again from zero', () => {
    const again = show(stateAt(10, 11), { ...snapshot(1), atMs: START_MS + 12_000 });
    assert.equal(again.history.rate('kubeloom_informer_records_total', PODS), 50);
    assert.match(frame(again, 140, 24).find((line) => line.startsWith('pods')) ?? '', / 9\.9ms /);
  });

  test('has sparklines of the last sixty seconds, and rates of the last five', () => {
    const long = stateAt(...Array.from({ length: 200 }, (_, second) => second));
    assert.equal(long.history.events('pods').length, 60);
    const burst = show(long, { ...snapshot(210), atMs: START_MS + 200_000 });
    assert.equal(burst.history.events('pods').at(-1), 1100);
    assert.equal(burst.history.rate('kubeloom_informer_records_total', PODS), 300);
  });

  test('names the reason when the program is gone, and begins again when it is back', () => {
    const lost = stepTop(stateAt(1, 2), { type: 'lost', reason: 'no figures from port 1' });
    assert.ok(frame(press(lost, 'e'), 140, 24).includes('no figures from port 1'));
    const back = show(lost, snapshot(3));
    assert.ok(!frame(back, 140, 24).includes('no figures from port 1'));
    assert.deepEqual(back.history.events(), []);
  });
});

describe('the keys of kubeloom top', () => {
  test('sort by a column, the highest first, and are marked', () => {
    const byKey = Object.keys(SORT_KEYS).map((key) => names(press(stateAt(1, 2), key))[0]);
    assert.deepEqual(byKey, ['nodes', 'nodes', 'pods', 'nodes', 'nodes', 'pods', 'nodes', 'nodes']);
    assert.match(frame(press(stateAt(1, 2), 'e'), 140, 24).at(-1) ?? '', / n name .* \[e events\/s\] /);
    assert.deepEqual(names(press(stateAt(1, 2), 'e', 'f1')), ['pods', 'nodes'], 'other keys change nothing');
  });

  test('scroll through the informers, whose number is shown', () => {
    const many = manyInformers(200);
    const header = (state: TopState): string =>
      frame(state, 80, 24).find((line) => line.startsWith('INFORMER')) ?? '';
    assert.match(header(many), /^INFORMER 1–15 of 200 /);
    assert.match(header(press(many, 'down', 'down', 'up')), /^INFORMER 2–16 of 200 /);
    assert.deepEqual(names(press(many, 'down'), 80, 24).slice(0, 2), ['pods 1', 'pods 2']);
    const far = Array.from({ length: 30 }, () => 'pagedown');
    assert.match(header(press(many, ...far)), /^INFORMER 186–200 of 200 /);
    assert.match(header(press(many, ...far, 'o')), /^INFORMER 1–15 of 200 /);
    assert.match(header(press(many, 'up')), /^INFORMER 1–15 of 200 /);
  });
});

test('tables share the lines one row each in turn, and none has headers only', () => {
  assert.deepEqual(shares([2, 4, 0, 3], 20), [2, 4, 0, 3]);
  assert.deepEqual(shares([200, 4, 10], 17), [4, 4, 4]);
  assert.deepEqual(shares([200, 4, 10], 4), [3, 0, 0]);
  assert.deepEqual(shares([200, 4], 1), [0, 0]);
});

/** The snapshot with nodes that watch and are not stale. */
function quiet(second: number): StatsSnapshot {
  const { families: before, ...rest } = snapshot(second);
  const changed = families({
    kubeloom_informer_phase: [
      [{ ...PODS, phase: 'watching' }, 1],
      [{ ...NODES, phase: 'watching' }, 1],
    ],
    kubeloom_informer_stale: [
      [PODS, 0],
      [NODES, 0],
    ],
  });
  const names = new Set(changed.map(({ name }) => name));
  return { ...rest, families: [...before.filter(({ name }) => !names.has(name)), ...changed] };
}

test('an informer without events is idle, which is no lag', () => {
  const state = show(show(initialTop('t'), quiet(1)), quiet(2));
  const lines = frame(state, 130, 30);
  assert.match(lines.find((line) => line.startsWith('nodes')) ?? '', / idle /);
  assert.match(lines.find((line) => line.startsWith('pods')) ?? '', / 200ms /);
  assert.match(plainLine(state), /, lag 200ms,/);
});

test('the names of informers are not cut while they have room', () => {
  const state = show(show(initialTop('t'), quiet(1)), quiet(2));
  const name = NODES.name;
  assert.ok(frame(state, 80, 30).some((line) => line.startsWith(name)));
});

test('the line for a program has the sums of all informers and the longest lag', () => {
  assert.equal(
    plainLine(stateAt(1, 2)),
    'objects 32,345, events/s 100, lag 130s, p50 5.5ms, p99 9.9ms, backlog 5, relists 2, errors 5',
  );
});
