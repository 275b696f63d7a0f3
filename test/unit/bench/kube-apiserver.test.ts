/** The figures of sharded watches, streaming lists, links and slow watchers: what is read, and the tables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  areServed,
  gapsOf,
  meansOf,
  serverFiguresOf,
  tablesOf,
} from '../../../bench/kube-apiserver/sharding-figures.ts';
import type {
  MemberFigures,
  Phase,
  ServerFigures,
  Tenure,
} from '../../../bench/kube-apiserver/sharding-figures.ts';
import { linksTable } from '../../../bench/kube-apiserver/links-figures.ts';
import { shardingPlot } from '../../../bench/kube-apiserver/sharding-plot.ts';
import { streamingTable } from '../../../bench/kube-apiserver/streaming-figures.ts';
import { watchersTable } from '../../../bench/kube-apiserver/watchers-figures.ts';

function tenure(member: string, partition: number, epoch: number, firstMs: number, lastMs: number): Tenure {
  return { member, partition, epoch, firstMs, lastMs };
}

test('a partition is without an owner from the last work of one to the first work of the next', () => {
  const tenures = [
    tenure('a', 0, 1, 10, 100),
    tenure('b', 0, 2, 130, 500),
    tenure('a', 1, 1, 10, 100),
    tenure('b', 1, 2, 160, 500),
    tenure('c', 2, 1, 10, 500),
  ];
  assert.deepEqual(gapsOf(tenures, 90), [30, 60]);
  assert.deepEqual(gapsOf(tenures, 140), [60]);
});

test('the time of a killed member counts from its death, not from its last heartbeat', () => {
  const tenures = [tenure('a', 0, 1, 10, 40), tenure('b', 0, 2, 130, 500)];
  assert.deepEqual(gapsOf(tenures, 100, 'a'), [30]);
  assert.deepEqual(gapsOf(tenures, 100, 'c'), [90]);
});

const METRICS = `# HELP apiserver_watch_events_total
process_cpu_seconds_total 12.5
process_resident_memory_bytes 3.5e+08
apiserver_request_total{code="200",resource="leases",verb="PUT"} 40
apiserver_request_total{code="200",resource="leases",verb="GET"} 2
apiserver_request_total{code="200",resource="pods",verb="GET"} 900
apiserver_watch_events_total{group="",resource="configmaps",version="v1"} 300
apiserver_watch_filtered_events_total{group="",resource="configmaps",version="v1"} 900
apiserver_watch_shards_total{group="",resource="configmaps"} 16
`;

test('the metrics of a server are read, and those that a version does not have are 0', () => {
  assert.deepEqual(serverFiguresOf(METRICS), {
    cpuSeconds: 12.5,
    rssBytes: 3.5e8,
    leaseRequests: 42,
    sentEvents: 300,
    filteredEvents: 900,
    shards: 16,
  });
  assert.equal(serverFiguresOf('process_cpu_seconds_total 1\n').filteredEvents, 0);
});

function member(name: string, scale: number): MemberFigures {
  const grown = { events: 100 * scale, bytes: 102_400 * scale, cpuMs: 50 * scale };
  return { member: name, owned: [0, 1], objects: 500, rssBytes: 2 ** 27, listMs: 120, tenures: [], ...grown };
}

const SERVER: ServerFigures = serverFiguresOf(METRICS);
const LATER: ServerFigures = { ...SERVER, cpuSeconds: 13, sentEvents: 500, leaseRequests: 47 };
const PHASE: Phase = {
  isFiltering: true,
  members: 2,
  seconds: 10,
  changes: 1000,
  filledMs: 2500,
  before: { members: [member('a', 1), member('b', 1)], server: SERVER },
  after: { members: [member('a', 11), member('b', 21)], server: LATER },
};

test('the tables have rates, means and the longest list', () => {
  const text = tablesOf([PHASE], [{ isFiltering: true, kill: [15_000, 18_000], join: [500], leave: [] }]);
  assert.match(text, /\| on \| 2 \| 500 \| 120 \| 2\.5 \| 150 \| 150 \| 75 \| 128 \|/);
  assert.match(text, /\| on \| 2 \| 100 \| 20 \| 0 \| 16 \| 0\.5 \| 50 \| 334 \|/);
  assert.match(text, /\| on \| 18\.0; 18\.0 \| none \| 0\.5; 0\.5 \|/);
});

test('a partition that has moved is served when its new owner has worked', () => {
  const members = [member('a', 1), { ...member('b', 1), owned: [2] }];
  const others = [tenure('a', 0, 1, 10, 90), tenure('a', 1, 1, 10, 90)];
  const moved = [...others, tenure('a', 2, 1, 10, 80)];
  assert.equal(areServed(members, moved, 50), false);
  assert.equal(areServed(members, [...moved, tenure('b', 2, 2, 85, 86)], 50), true);
  assert.equal(areServed(members, [...moved, tenure('b', 2, 2, 85, 86)], 88), false);
});

test('the plot has a panel for each figure, and a line for each state of the gate', () => {
  const svg = shardingPlot([meansOf(PHASE), { ...meansOf(PHASE), members: 4, isFiltering: false }]);
  for (const text of [
    'objects in the cache',
    'KiB/s received',
    'CPU, ms/s',
    'RSS, MiB',
    'gate on',
    'gate off',
  ])
    assert.ok(svg.includes(`>${text}</text>`), text);
  assert.doesNotMatch(svg, /NaN/);
});

test('the table of lists has what the server and the client took', () => {
  const memory = (mebibytes: number): { rssBytes: number; peakBytes: number } => ({
    rssBytes: mebibytes * 2 ** 20,
    peakBytes: mebibytes * 2 ** 20,
  });
  const text = streamingTable([
    {
      mode: 'pages',
      informers: 4,
      client: { ...memory(80), durationMs: 1500, objects: 400 },
      serverBefore: memory(300),
      serverAfter: memory(410),
    },
  ]);
  assert.match(text, /^\| 4 \|  \|  \|  \| 110 \| 80 \| 1\.5 \|  \|  \|  \|$/m);
});

test('the table of watchers has the delays, the changes that did not arrive, and what the server ended', () => {
  const row = { changesPerSecond: 100, seconds: 10, changes: 1000, serverCpuSeconds: 2.5 };
  const delaysMs = Array.from({ length: 998 }, (_, index) => 1 + index / 100);
  const text = watchersTable([
    { ...row, neighbours: 'stalled', delaysMs, terminated: 1 },
    { ...row, neighbours: 'alone', delaysMs: [], terminated: 0 },
  ]);
  assert.match(text, /^\| 100 \| stalled \| 100 \| 6\.0 \| 10\.9 \| 11\.0 \| 2 \| 250 \| 1 \|$/m);
  assert.match(text, /^\| 100 \| alone \| 100 \| none \| none \| none \| 1000 \| 250 \| 0 \|$/m);
});

test('the table of links has the bytes and the times of each form of list', () => {
  const client = { durationMs: 1230, cpuMs: 560, peakBytes: 100 * 2 ** 20, objects: 10 };
  const text = linksTable([
    { form: 'LIST', megabitsPerSecond: 50, receivedBytes: 7_650_000, client, serverCpuSeconds: 0.5 },
    { form: 'LIST in gzip', megabitsPerSecond: 0, receivedBytes: 800_000, client, serverCpuSeconds: 0.7 },
  ]);
  assert.match(text, /^\| 50 \| LIST \| 7\.7 \| 1\.23 \| 0\.56 \| 100 \| 0\.50 \|$/m);
  assert.match(text, /^\| no limit \| LIST in gzip \| 0\.8 \| 1\.23 \| 0\.56 \| 100 \| 0\.70 \|$/m);
});
