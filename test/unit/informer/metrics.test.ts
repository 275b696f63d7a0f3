/** Metrics of a running program: each of the table has a sample, with its labels and the value of its source. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { FakeClock, FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import type { MetricFamily } from '../../../src/metrics/collect.ts';
import type { HistogramData } from '../../../src/metrics/histogram.ts';
import { METRIC_DEFINITIONS } from '../../../src/metrics/metrics-table.ts';
import { MetricsReading, quantile, since } from '../../../src/tools/cli/top/reading.ts';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import { RateLimitingQueue, runWorkers } from '../../../src/workqueue/index.ts';
import { collectMetrics } from '../../../src/metrics/index.ts';
import { Scene } from '../../kit/scene.ts';
import { PODS, pod } from '../../kit/objects.ts';
import { SharedCache, openCache } from '../../../src/thread/index.ts';
import { Gate } from './scene.ts';
import { LeaderElector } from '../../../src/controller/index.ts';
import { PartitionGroup } from '../../../src/partitions/index.ts';
import { MemoryLease, MemoryLock } from '../controller/leader-election/memory-lock.ts';

const now = (): MetricsReading => new MetricsReading(collectMetrics());
/** Metrics that end with their source: those of requests last as long as the process. */
const ofSources = (): readonly MetricFamily[] =>
  collectMetrics().filter(({ name }) => !name.startsWith('rest_client_'));
/** Returns the number of observations. */
function observations({ counts }: HistogramData): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

const HANDLER = { handler: 'failing' };

describe('metrics of a running program', () => {
  test('every metric of the table has samples with exactly its labels, until its source ends', async () => {
    await using scene = await Scene.start({ threads: { indexerThreads: 1 } });
    await scene.put(pod('a'));
    const { threads } = scene;
    const informer = scene.informer();
    const failing = { onAdd: (): Promise<never> => Promise.reject(new Error('no')) };
    informer.addEventHandler(failing, { name: 'failing', measureDuration: true });
    const queue = new RateLimitingQueue<string>({ name: 'keys' });
    const workers = runWorkers(queue, 1, () => undefined);
    const stop = new AbortController();
    const lock = new MemoryLock(new MemoryLease(), 'me');
    const election = new LeaderElector({ lock }).run({ signal: stop.signal }, () => Promise.resolve());
    const ofGroup = { name: 'group', namespace: 'default', partitions: 1, threads };
    const group = new PartitionGroup(scene.server.connection, ofGroup).run({ signal: stop.signal }, () =>
      Promise.resolve(),
    );
    void informer.run();
    await settled(informer);
    await using shared = new SharedCache({ pods: informer });
    await using cache = await openCache(shared.port());
    await cache.informer('pods').waitForSync();
    // One event in 64 is timed.
    for (let step = 0; step < 64; step++) await scene.put(pod('a', { step: `${step}` }));
    await scene.until(() => now().histogram('kubeloom_latency_seconds', { stage: 'done' }) !== undefined);
    await scene.server.dropWatches({ how: 'close' });
    await scene.until(() => now().sum('kubeloom_watches_ended_total') !== undefined);
    await scene.until(() => now().sum('kubeloom_partition_changes_total') !== undefined);
    const families = collectMetrics();
    assert.deepEqual(
      families.map(({ name }) => name),
      METRIC_DEFINITIONS.map(({ name }) => name),
    );
    for (const { name, labels, samples } of families)
      for (const sample of samples) assert.deepEqual(Object.keys(sample.labels), labels, name);
    await informer.shutdown();
    queue.shutDown();
    stop.abort();
    await Promise.all([workers, election, group]);
    await threads.close();
    assert.deepEqual(ofSources(), []);
  });

  test('an informer counts what it holds, calls and reports', async () => {
    const source = new FakeControllerSource<V1Pod>();
    source.add(pod('a'));
    // With a clock that stands still, one turn of the main thread merges and delivers everything.
    await using threads = new InformerThreads({ indexerThreads: 0 }, { clock: new FakeClock() });
    await using informer = new SharedIndexInformer<V1Pod>(source, PODS, {
      threads,
      onError: () => undefined,
    });
    using held = new Gate();
    informer.addEventHandler({ onAdd: () => Promise.reject(new Error('no')) }, { name: 'failing' });
    informer.addEventHandler({ onUpdate: () => held.opened }, { name: 'slow' });
    informer.addEventHandler({ onUpdate: () => held.opened }, { name: 'slow' });
    void informer.run();
    await settled(informer);
    assert.equal(now().sum('kubeloom_informer_objects'), 1);
    assert.equal(now().sum('kubeloom_informer_synced'), 1);
    assert.equal(now().sum('kubeloom_informer_stale'), 0);
    assert.equal(now().sum('informer_store_resource_version'), 1);
    assert.equal(now().sum('kubeloom_handler_calls_total', HANDLER), 1);
    assert.equal(now().sum('kubeloom_handler_errors_total', HANDLER), 1);
    assert.equal(now().sum('kubeloom_errors_total', { code: 'ERR_KUBELOOM_HANDLER' }), 1);
    const before = now().sum('kubeloom_informer_records_total') ?? 0;
    for (let step = 0; step < 3; step++) source.modify(pod('a', { step: `${step}` }));
    await informer.waitForResourceVersion('4');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal((now().sum('kubeloom_informer_records_total') ?? 0) - before, 3);
    assert.equal(now().sum('kubeloom_handler_pending', { handler: 'slow' }), 2);
    assert.equal(now().sum('kubeloom_handler_pending', { handler: 'slow #2' }), 2);
    assert.equal(now().sum('informer_queued_items'), 4);
    assert.ok((now().sum('kubeloom_handler_pending_bytes') ?? 0) > 0);
    held.open();
  });

  test('an informer observes the latency of one event in 64, and of no item of a list', async () => {
    const clock = new FakeClock();
    const source = new FakeControllerSource<V1Pod>();
    for (let index = 0; index < 200; index++) source.add(pod(`pod-${index}`));
    await using threads = new InformerThreads({ indexerThreads: 0 }, { clock });
    await using informer = new SharedIndexInformer<V1Pod>(source, PODS, { threads });
    let calls = 0;
    informer.addEventHandler({
      onUpdate: () => {
        calls++;
        clock.advance(100);
      },
    });
    void informer.run();
    await settled(informer);
    const stages = ['committed', 'merged', 'delivered', 'done'];
    assert.deepEqual(now().labels('kubeloom_latency_seconds'), [], 'no series before the first observation');
    for (let step = 0; step < 128; step++) source.modify(pod('pod-0', { step: `${step}` }));
    await settled(informer);
    assert.equal(calls, 128);
    const [committed, merged, delivered, done] = stages.map((stage) =>
      now().histogram('kubeloom_latency_seconds', { stage }),
    );
    assert.ok(committed && merged && delivered && done);
    for (const latency of [committed, merged, delivered, done]) assert.equal(observations(latency), 2);
    assert.ok(committed.sum <= merged.sum && merged.sum <= delivered.sum);
    assert.ok(Math.abs(done.sum - delivered.sum - 0.2) < 1e-9, 'each of the two calls took 100 ms');
  });

  test('a named work queue and its workers have the metrics of client-go and controller-runtime', async () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'keys', clock });
    queue.add('a');
    queue.add('a');
    queue.add('b');
    clock.advance(2000);
    assert.equal(now().sum('workqueue_depth'), 2);
    using reconciling = new Gate();
    const outcomes = { a: () => reconciling.opened, b: () => Promise.reject(new Error('no')) };
    const workers = runWorkers(queue, 2, (item) => outcomes[item as 'a' | 'b'](), {
      clock,
      onError: () => queue.shutDown(),
      retriesMax: 0,
    });
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3000);
    const busy = now();
    assert.equal(busy.sum('workqueue_adds_total'), undefined, 'the queue was shut down');
    assert.equal(busy.sum('controller_runtime_active_workers', { controller: 'keys' }), 1);
    assert.equal(busy.sum('controller_runtime_max_concurrent_reconciles'), 2);
    assert.equal(busy.sum('controller_runtime_reconcile_total', { result: 'error' }), 1);
    assert.equal(busy.sum('controller_runtime_reconcile_errors_total'), 1);
    reconciling.open();
    await workers;
    assert.deepEqual(ofSources(), []);
  });

  test('times of a work queue are in seconds, waiting and work apart', async () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'keys', clock });
    queue.add('a');
    clock.advance(20);
    await queue.get();
    clock.advance(500);
    const before = now();
    assert.equal(before.sum('workqueue_unfinished_work_seconds'), 0.5);
    assert.equal(before.sum('workqueue_longest_running_processor_seconds'), 0.5);
    assert.equal(before.histogram('workqueue_queue_duration_seconds')?.sum, 0.02);
    queue.done('a');
    queue.addRateLimited('a');
    assert.equal(now().sum('workqueue_retries_total'), 1);
    assert.equal(now().histogram('kubeloom_queue_latency_seconds')?.sum, 0.52);
    const work = now().histogram('workqueue_work_duration_seconds');
    assert.equal(work?.sum, 0.5);
    assert.equal(work && quantile(since(work, before.histogram('workqueue_work_duration_seconds')), 1), 1);
    queue.shutDown();
  });

  test('the latency of an item that was added again during its work counts from that addition', async () => {
    const clock = new FakeClock();
    const queue = new RateLimitingQueue<string>({ name: 'keys', clock });
    queue.add('a');
    await queue.get();
    clock.advance(1000);
    queue.add('a');
    clock.advance(250);
    queue.done('a');
    queue.done('a');
    assert.equal(now().histogram('kubeloom_queue_latency_seconds')?.sum, 1.25);
    await queue.get();
    clock.advance(500);
    queue.done('a');
    assert.equal(now().histogram('kubeloom_queue_latency_seconds')?.sum, 2);
    queue.shutDown();
  });
});
