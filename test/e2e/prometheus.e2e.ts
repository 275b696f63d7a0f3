/** Metrics of a program and the alerts, read by Prometheus' own linter and parser. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { settled, startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { register } from '../../src/metrics/prometheus.ts';
import { InformerThreads, SharedIndexInformer, resources } from '../../src/index.ts';
import { RateLimitingQueue, runWorkers } from '../../src/workqueue/index.ts';
import { prometheusText } from '../../src/metrics/index.ts';
import { ROOT } from '../unit/docs/documents.ts';
import { checkMetrics, checkRules } from './prometheus.ts';

/** A metric of each kind of source. */
const SOURCES = [
  'kubeloom_informer_objects',
  'kubeloom_handler_calls_total',
  'kubeloom_thread_cpu_seconds_total',
  'workqueue_queue_duration_seconds_bucket',
  'controller_runtime_reconcile_total',
];

describe('Prometheus', () => {
  test('finds no problem in what a running program exposes, with and without prom-client', async () => {
    await using server = await startEmbeddedApiServer();
    await server.populate({ count: 20, objectBytes: 1024 });
    await using threads = new InformerThreads({ indexerThreads: 1 });
    await using informer = new SharedIndexInformer(server.connection, resources.core.v1.pods, { threads });
    const queue = new RateLimitingQueue<string>({ name: 'pods "to do"' });
    informer.addEventHandler({ onAdd: (pod) => queue.add(pod.key) }, { name: 'adds \\ keys' });
    const workers = runWorkers(queue, 2, () => undefined);
    void informer.run();
    await settled(informer);
    const registry = new Registry();
    register(registry);
    const own = prometheusText();
    const throughPromClient = await registry.metrics();
    queue.shutDown();
    await workers;
    for (const text of [own, throughPromClient]) {
      for (const source of SOURCES) assert.ok(text.includes(`\n${source}{`), source);
      assert.equal(await checkMetrics(text), '');
    }
  });

  test('finds the problem of a counter without _total', async () => {
    assert.match(await checkMetrics('# HELP a Calls.\n# TYPE a counter\na 1\n'), /^a: .*"_total" suffix$/);
  });

  test('accepts the rules of docs/grafana/alerts.yaml', async () => {
    const rules = await readFile(join(ROOT, 'docs/grafana/alerts.yaml'), 'utf8');
    assert.equal(await checkRules(rules), rules.match(/- alert:/g)?.length);
    assert.match(String(await checkRules(rules.replace('== 1', '=== 1'))), /could not parse expression/);
  });
});
