/** Figures of an informer, its handlers and its threads: `stats()`, and the metrics that are made from them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { onObservation } from '../../../src/metrics/histogram.ts';
import { MetricsReading } from '../../../src/tools/cli/top/reading.ts';
import { FakeClock, FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import { collectMetrics } from '../../../src/metrics/index.ts';
import { Gate, Lines, PODS, Scene, pod, turns } from './scene.ts';
import type { Pod } from './scene.ts';

const now = (): MetricsReading => new MetricsReading(collectMetrics());
const PADDING: string = 'x'.repeat(2000);

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

describe('stats of an informer', () => {
  test('are frozen data of its cache, its errors and its handlers', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const failing = (): Promise<never> => Promise.reject(new Error('no'));
    informer.addEventHandler({ onAdd: failing }, { name: 'failing', measureDuration: true });
    assert.deepEqual([informer.stats().objects, informer.stats().storeBytes], [0, { plain: 0, packed: 0 }]);
    scene.source.add(pod('a'));
    await scene.started(informer);
    while (informer.phase !== 'watching') await turns(1);
    const stats = informer.stats();
    assert.ok(isFrozen(stats));
    const { name, phase, hasSynced, objects, records, errors } = stats;
    assert.deepEqual([name, phase, hasSynced, objects], ['pods (all namespaces)', 'watching', true, 1]);
    assert.deepEqual(errors, { ERR_KUBELOOM_HANDLER: 1 });
    assert.ok(records >= 1 && stats.storeBytes.plain > 0);
    const [handler] = stats.handlers;
    assert.deepEqual(
      [handler?.name, handler?.calls, handler?.errors, handler?.notifications],
      ['failing', 1, 1, 0],
    );
    assert.equal(
      handler?.durations?.counts.reduce((sum, count) => sum + count, 0),
      1,
    );
  });

  test('name each handler differently for as long as it is registered', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const first = informer.addEventHandler({ onAdd: () => undefined }, { name: 'slow' });
    informer.addEventHandler({ onAdd: () => undefined }, { name: 'slow' });
    await scene.started(informer);
    await informer.shutDownEventHandler(first);
    assert.deepEqual(
      informer.stats().handlers.map(({ name }) => name),
      ['slow #2'],
    );
  });

  test('have the duration of calls, promises included, in the buckets of a histogram', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    const observed: unknown[] = [];
    const end = onObservation((...observation) => {
      if (observation[0] === 'kubeloom_handler_duration_seconds') observed.push(observation);
    });
    using gate = new Gate();
    informer.addEventHandler({ onAdd: () => gate.opened }, { name: 'slow', measureDuration: true });
    scene.source.add(pod('a'));
    void informer.run();
    while (informer.stats().handlers[0]?.calls !== 1) await turns(1);
    scene.clock.advance(300);
    gate.open();
    await settled(informer);
    end();
    const histogram = now().histogram('kubeloom_handler_duration_seconds', { handler: 'slow' });
    assert.equal(histogram?.sum, 0.3);
    assert.equal(histogram?.counts[histogram.bounds.indexOf(0.5)], 1);
    const labels = { name: informer.name, group: '', version: 'v1', resource: 'pods', handler: 'slow' };
    assert.deepEqual(observed, [['kubeloom_handler_duration_seconds', labels, 0.3]]);
  });
});

describe('the store and the cache of parsed objects', () => {
  test('count bytes as received, and as packed once the objects have not changed for a while', async () => {
    const clock = new FakeClock();
    const source = new FakeControllerSource<Pod>();
    await using threads = new InformerThreads(
      { indexerThreads: 0, compressAfterMs: 1000 },
      { clock, packBytesMin: 0 },
    );
    await using informer = new SharedIndexInformer<Pod>(source, PODS, { threads });
    void informer.run();
    await settled(informer);
    // The items of a list would be packed when they arrive.
    for (let index = 0; index < 50; index++) source.add({ ...pod(`p${index}`), spec: { PADDING } });
    await settled(informer);
    const before = now().sum('kubeloom_store_bytes', { state: 'plain' }) ?? 0;
    assert.ok(before > 50 * 2000);
    assert.equal(now().sum('kubeloom_store_bytes', { state: 'packed' }), 0);
    const { storeBytes } = informer.stats();
    for (let round = 0; round < 1000 && informer.stats().storeBytes.plain === storeBytes.plain; round++)
      clock.advance(1000);
    const packed = now().sum('kubeloom_store_bytes', { state: 'packed' }) ?? 0;
    assert.ok(packed > 0 && packed < before / 2, `${before} bytes were packed into ${packed}`);
  });

  test('C21 grow by the bytes of pending notifications and no more, while a handler never returns', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    using gate = new Gate();
    const stuck = informer.addEventHandler({ onUpdate: () => gate.opened });
    const prompt = new Lines();
    informer.addEventHandler(prompt);
    const pods = Array.from({ length: 50 }, (_, index) => ({ ...pod(`p${index}`), spec: { PADDING } }));
    for (const one of pods) scene.source.add(one);
    await scene.started(informer);
    for (let round = 0; round < 20; round++) for (const one of pods) scene.source.modify(one);
    scene.source.add(pod('last'));
    await prompt.until('add last');
    const { plain } = informer.stats().storeBytes;
    const { notifications, bytes } = stuck.backlog;
    gate.open();
    await settled(informer);
    const rest = informer.stats().storeBytes.plain;
    assert.equal(notifications, 20 * 50);
    // The call also holds the state before its own.
    const ofTheCall = plain - rest - bytes;
    assert.ok(ofTheCall >= 0 && ofTheCall <= bytes / notifications, `${plain} - ${rest} - ${bytes} bytes`);
  });

  test('count a read as a hit while the object is still parsed', async () => {
    await using scene = new Scene();
    const informer = scene.informer();
    scene.source.add(pod('a'));
    await scene.started(informer);
    const cached = informer.getStore().getByKey('ns/a');
    const counts = (): unknown[] => [
      now().sum('kubeloom_decoded_cache_misses_total'),
      now().sum('kubeloom_decoded_cache_hits_total'),
    ];
    const [misses, hits] = counts() as [number, number];
    assert.equal(cached?.object.metadata.name, 'a');
    assert.deepEqual(counts(), [misses + 1, hits]);
    assert.equal(cached?.object.metadata.name, 'a');
    assert.deepEqual(counts(), [misses + 1, hits + 1]);
    assert.equal(cached?.metadata.name, 'a');
    assert.equal(cached?.metadata.name, 'a');
    assert.ok((now().sum('kubeloom_decoded_cache_bytes') ?? 0) > 0);
  });
});
