/** Metrics of sources that register themselves, as plain data, as text and through prom-client and OpenTelemetry. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { afterEach, describe, test } from 'node:test';

import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';

import { collectMetrics, registerMetrics } from '../../../src/metrics/collect.ts';
import type { AddSample, MetricSource } from '../../../src/metrics/collect.ts';
import { Histogram, exponentialBounds } from '../../../src/metrics/histogram.ts';
import { instrument } from '../../../src/metrics/opentelemetry.ts';
import { register } from '../../../src/metrics/prometheus.ts';
import { prometheusText } from '../../../src/metrics/prometheus-text.ts';

/** A work queue with 3 waiting items and 4 observed times. */
class SampleQueue implements MetricSource {
  readonly metricsKind = 'queue';
  readonly metricsName: string;
  readonly histogram: Histogram;

  constructor(metricsName: string = 'pods') {
    this.metricsName = metricsName;
    this.histogram = new Histogram('workqueue_work_duration_seconds', { name: metricsName }, [0.1, 1]);
    for (const seconds of [0.05, 0.1, 0.5, 7]) this.histogram.observe(seconds);
  }

  addMetrics(add: AddSample, name: string): void {
    add('workqueue_depth', { name }, 3);
    add('workqueue_work_duration_seconds', { name }, this.histogram.data);
  }
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function started(name?: string): () => void {
  const { end } = registerMetrics(new SampleQueue(name));
  ends.push(end);
  return end;
}

/** `pods 3`: the depth of each queue. */
function depths(): string[] {
  const { samples = [] } = collectMetrics().find(({ name }) => name === 'workqueue_depth') ?? {};
  return samples.map(({ labels, value }) => `${labels['name']} ${JSON.stringify(value)}`);
}

describe('collectMetrics', () => {
  test('returns the samples of running sources in the order of the table, frozen', () => {
    started();
    const families = collectMetrics();
    const names = families.map(({ name, type }) => `${type} ${name}`);
    assert.deepEqual(names, ['gauge workqueue_depth', 'histogram workqueue_work_duration_seconds']);
    assert.ok(Object.isFrozen(families) && Object.isFrozen(families[0]?.samples[0]?.labels));
  });

  test('numbers sources of one name, and a name is free again after its source has ended', () => {
    const endFirst = started();
    started();
    assert.deepEqual(depths(), ['pods 3', 'pods #2 3']);
    endFirst();
    assert.deepEqual(depths(), ['pods #2 3']);
    started();
    assert.deepEqual(depths(), ['pods #2 3', 'pods 3']);
  });
});

test('a histogram counts a value in the first bucket whose bound is not below it', () => {
  const { counts, sum } = new SampleQueue().histogram.data;
  assert.deepEqual(counts, [2, 1, 1]);
  assert.equal(sum, 7.65);
  assert.deepEqual(exponentialBounds(1, 10, 3), [1, 10, 100]);
});

interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly metrics: readonly {
    readonly value?: string;
    readonly labels?: Readonly<Record<string, string>>;
  }[];
}

/** An independent parser of the text format; it has no types, and drops the labels of histograms. */
const parseText = createRequire(import.meta.url)('parse-prometheus-text-format') as (
  text: string,
) => readonly ParsedFamily[];

describe('prometheusText', () => {
  test('is read by a parser of the text format with the same types and values', () => {
    started();
    const [depth, duration] = parseText(prometheusText());
    assert.deepEqual([depth?.name, depth?.type], ['workqueue_depth', 'GAUGE']);
    assert.deepEqual(depth?.metrics, [{ value: '3', labels: { name: 'pods' } }]);
    assert.deepEqual([duration?.name, duration?.type], ['workqueue_work_duration_seconds', 'HISTOGRAM']);
  });

  test('prints the buckets of a histogram cumulatively', () => {
    started();
    const lines = prometheusText().split('\n').slice(-6, -1);
    assert.deepEqual(lines, [
      'workqueue_work_duration_seconds_bucket{name="pods",le="0.1"} 2',
      'workqueue_work_duration_seconds_bucket{name="pods",le="1"} 3',
      'workqueue_work_duration_seconds_bucket{name="pods",le="+Inf"} 4',
      'workqueue_work_duration_seconds_sum{name="pods"} 7.65',
      'workqueue_work_duration_seconds_count{name="pods"} 4',
    ]);
  });

  test('escapes quotes, backslashes and line feeds in labels', () => {
    const name = 'a"b\\c\nd';
    started(name);
    assert.match(prometheusText(), /name="a\\"b\\\\c\\nd"/);
    assert.equal(parseText(prometheusText())[0]?.metrics[0]?.labels?.['name'], name);
  });
});

describe('kubeloom/metrics/prometheus', () => {
  for (const format of ['PROMETHEUS', 'OPENMETRICS'] as const) {
    test(`a registry of prom-client prints kubeloom's metrics in its ${format} format`, async () => {
      const registry = new Registry();
      registry.setContentType(Registry[`${format}_CONTENT_TYPE`] as typeof Registry.PROMETHEUS_CONTENT_TYPE);
      const end = register(registry);
      started();
      const text = await registry.metrics();
      assert.match(text, /^workqueue_depth\{name="pods"\} 3$/m);
      assert.match(text, /^workqueue_work_duration_seconds_bucket\{name="pods",le="\+Inf"\} 4$/m);
      end();
      assert.doesNotMatch(await registry.metrics(), /workqueue/);
    });
  }
});

test('kubeloom/metrics/opentelemetry gives a meter gauges when it collects, and every observation of a histogram', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 });
  const provider = new MeterProvider({ readers: [reader] });
  const end = instrument(provider.getMeter('test'));
  started();
  await provider.forceFlush();
  const points = new Map(
    exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      .map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]]),
  );
  assert.equal(points.get('workqueue_depth')?.value, 3);
  assert.deepEqual(points.get('workqueue_depth')?.attributes, { name: 'pods' });
  const duration = points.get('workqueue_work_duration_seconds')?.value;
  assert.equal((duration as { readonly count: number }).count, 4);
  end();
  await provider.shutdown();
});
