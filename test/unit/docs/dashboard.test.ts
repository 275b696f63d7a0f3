/** docs/grafana/kubeloom.json: its queries name metrics and labels of the table, and it shows every metric. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { METRIC_DEFINITIONS } from '../../../src/metrics/metrics-table.ts';
import { ROOT } from './documents.ts';
import { selectionOfVariable, selections } from './promql.ts';

/** The part of the JSON that these tests read. */
interface Dashboard {
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** Metrics that no panel shows, and why. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  informer_queued_items: 'the sum of kubeloom_handler_pending',
  informer_store_resource_version: 'a position: two informers are compared by it',
  kubeloom_informer_phase: 'in kubeloom top',
  kubeloom_list_items: 'kubeloom_informer_objects says the same',
  kubeloom_list_bytes: 'kubeloom_received_bytes_total says the same',
  kubeloom_watches_started_total: 'a watch that was started ends',
  kubeloom_watch_duration_seconds: 'kubeloom_watches_ended_total says the same',
  kubeloom_handler_pending_bytes: 'kubeloom_store_bytes includes them',
  kubeloom_shared_threads: 'few programs share a cache, and its backlog is that of a handler',
  kubeloom_shared_states: 'the same',
  kubeloom_shared_bytes: 'the same',
  kubeloom_shared_attached_total: 'the same',
  kubeloom_shared_detached_total: 'the same',
  kubeloom_thread_records_total: 'kubeloom_informer_records_total says the same',
  workqueue_work_duration_seconds: 'controller_runtime_reconcile_time_seconds says the same of workers',
  workqueue_unfinished_work_seconds: 'workqueue_longest_running_processor_seconds shows a worker that hangs',
  leader_election_master_status: 'an alert of docs/grafana/alerts.yaml has it',
  leader_election_slowpath_total: 'a rate above zero concerns the lease alone; errors of the elector say why',
  kubeloom_partition_sync_seconds: 'kubeloom_partition_unserved_seconds shows a partition that waits',
  kubeloom_partition_drain_seconds: 'the same',
  controller_runtime_reconcile_errors_total: 'controller_runtime_reconcile_total has it as a result',
  controller_runtime_terminal_reconcile_errors_total:
    'controller_runtime_reconcile_total has them among its errors',
};

/** Labels that the scraper adds. */
const OF_SCRAPER = ['job', 'instance'];
/** Counters of what is rare: a rate does not show the first event of a series. */
const RARE: ReadonlySet<string> = new Set([
  'kubeloom_lists_total',
  'kubeloom_watches_ended_total',
  'kubeloom_errors_total',
  'kubeloom_ignored_events_total',
  'kubeloom_partition_changes_total',
  'kubeloom_thread_restarts_total',
  'kubeloom_thread_lost_wakeups_total',
  'kubeloom_list_duration_seconds',
  'rest_client_requests_total',
  'rest_client_request_duration_seconds',
]);

const metrics: ReadonlyMap<
  string,
  { readonly name: string; readonly type: string; readonly labels: readonly string[] }
> = new Map(METRIC_DEFINITIONS.map((metric) => [metric.name, metric]));

/** Finds the metric of a sample's name, which has a suffix for a histogram. */
function metricOf(sample: string): { name: string; type: string; labels: readonly string[] } {
  const [, base = '', suffix] = /^(.*)_(bucket|sum|count)$/.exec(sample) ?? [];
  const histogram = metrics.get(base);
  if (histogram?.type === 'histogram') {
    return suffix === 'bucket' ? { ...histogram, labels: [...histogram.labels, 'le'] } : histogram;
  }
  const metric = metrics.get(sample);
  assert.ok(metric && metric.type !== 'histogram', `${sample} is not in the table`);
  return metric;
}

function has(metric: string, label: string): boolean {
  return [...metricOf(metric).labels, ...OF_SCRAPER].includes(label);
}

function check(expression: string, where: string): void {
  const all = selections(expression);
  for (const { metric, labels, by, rangeFunction } of all) {
    const { name, type } = metricOf(metric);
    for (const label of labels) assert.ok(has(metric, label), `${where}: ${metric} has no ${label}`);
    for (const label of by)
      assert.ok(
        all.some((other) => other.by.includes(label) && has(other.metric, label)),
        `${where}: nothing has ${label}`,
      );
    // A histogram's buckets are counters, too.
    const isRated = type !== 'gauge' && !RARE.has(name);
    assert.equal(rangeFunction !== undefined, isRated, `${where}: ${metric} is a ${type}`);
    if (rangeFunction !== undefined) assert.equal(rangeFunction, 'rate', where);
  }
}

const text = readFileSync(join(ROOT, 'docs/grafana/kubeloom.json'), 'utf8');
const { panels, templating } = JSON.parse(text) as Dashboard;
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expression: expr, legend: legendFormat })),
);

describe('the dashboard', () => {
  test('queries metrics of the table with their labels, and counters by their rate, unless they are rare', () => {
    assert.ok(queries.length > 0);
    for (const { title, expression } of queries) check(expression, title);
  });

  test('names series by labels that their query leaves', () => {
    for (const { title, expression, legend } of queries) {
      const [, by = ''] = /^(?:histogram_quantile\([\d.]+, )?\w+ by \((.*?)\)/.exec(expression) ?? [];
      for (const [, label = ''] of legend.matchAll(/\{\{(.*?)\}\}/g))
        assert.ok(by.split(', ').includes(label), `${title}: ${legend}`);
    }
  });

  test('has variables with values of labels of the table, and queries name no other variable', () => {
    const names = templating.list.map(({ name }) => name);
    for (const { name, type, definition } of templating.list) {
      if (type === 'datasource') continue;
      const { metric, labels } = selectionOfVariable(definition ?? '');
      for (const label of labels) assert.ok(has(metric, label), `${name}: ${label}`);
    }
    for (const [, name = ''] of text.matchAll(/\$\{?([a-z]\w*)/g)) assert.ok(names.includes(name), name);
  });

  test('shows every metric of the table, apart from those with a reason', () => {
    const shown = new Set(
      queries.flatMap(({ expression }) => selections(expression).map(({ metric }) => metricOf(metric).name)),
    );
    const missing = [...metrics.keys()].filter((name) => !shown.has(name));
    assert.deepEqual(missing.sort(), Object.keys(NOT_SHOWN).sort());
  });

  test('fills every line of its grid, and each panel has a number and a description', () => {
    const cells = new Map<string, string>();
    for (const { title, gridPos } of panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.equal(cells.get(`${x} ${y}`), undefined, `${title} covers ${cells.get(`${x} ${y}`)}`);
          cells.set(`${x} ${y}`, title);
        }
      }
    }
    const lines = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h));
    assert.equal(cells.size, 24 * lines);
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    for (const { title, targets, description } of panels) assert.ok(!targets || description, title);
  });

  test('has no address of a data source', () => {
    const uids = Array.from(text.matchAll(/"uid": "(.*)"/g), ([, uid]) => uid);
    assert.deepEqual(new Set(uids), new Set(['kubeloom', '${datasource}']));
  });
});

describe('selections', () => {
  test('have the labels of matchers and groupings, and the function of their range', () => {
    const [rated, gauge] = selections(
      'sum by (a) (rate(x_total{b=~"$b"}[$__rate_interval])) / on (c) y == 1',
    );
    assert.deepEqual(rated, { metric: 'x_total', labels: ['b', 'c'], by: ['a'], rangeFunction: 'rate' });
    assert.deepEqual(gauge, { metric: 'y', labels: ['c'], by: [], rangeFunction: undefined });
  });

  test('are refused for what is not PromQL', () => {
    assert.throws(() => selections('rate(x[5m]'), /no PromQL at character/);
    assert.throws(() => selectionOfVariable('metrics(x)'), /no label_values/);
  });
});
