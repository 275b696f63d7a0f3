/** Tests of the constructors of plain informers, and of the parts that they connect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  newIndexerInformer,
  newInformer,
  newNamespaceKeyedIndexerAndReflector,
  newTransformingIndexerInformer,
  newTransformingInformer,
} from '../../../../src/client-go/controller/informer.ts';
import { RecordingHandler, settle, started } from './scene.ts';
import { ScriptedListerWatcher, pod, podList } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

test('Each constructor returns a store and a controller that fills it', async () => {
  const handler = new RecordingHandler();
  const transform = (object: Pod): Pod => ({ ...object, apiVersion: 'v2' });
  const indexers = { version: (object: Pod): string[] => [object.apiVersion ?? ''] };
  const type = { kind: 'Pod' };
  const sources = Array.from({ length: 4 }, () => new ScriptedListerWatcher());
  const [a, b, c, d] = sources;
  assert.ok(a && b && c && d);
  const informers = [
    newInformer<Pod>(a, type, 0, handler),
    newIndexerInformer<Pod>(b, type, 0, handler, indexers),
    newTransformingInformer<Pod>(c, undefined, 0, handler, transform),
    newTransformingIndexerInformer<Pod>(d, type, 0, handler, indexers, transform),
  ];
  const stop = new AbortController();
  for (const source of sources) source.listAnswers.push(podList(1, [pod('foo')]));
  const running = informers.map(({ controller }) => controller.run({ signal: stop.signal }));
  await settle();
  const versions = informers.map(({ store }) => store.getByKey('foo')?.apiVersion);
  assert.deepEqual(versions, ['v1', 'v1', 'v2', 'v2']);
  assert.deepEqual(informers[1]?.store.indexKeys('version', 'v1'), ['foo']);
  assert.deepEqual(informers[3]?.store.indexKeys('version', 'v2'), ['foo']);
  assert.equal(handler.calls.length, 4);
  stop.abort();
  await Promise.all(running);
});

test('An indexer by namespace, and the reflector that fills it', async () => {
  const source = new ScriptedListerWatcher();
  const { indexer, reflector } = newNamespaceKeyedIndexerAndReflector<Pod>(source, { kind: 'Pod' }, 0);
  const foo = { ...pod('foo'), metadata: { ...pod('foo').metadata, namespace: 'web' } };
  source.listAnswers.push(podList(1, [foo, pod('bar')]));
  const stop = await started(reflector);
  assert.deepEqual(indexer.indexKeys('namespace', 'web'), ['web/foo']);
  await stop();
});
