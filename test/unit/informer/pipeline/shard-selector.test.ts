/** Tests of informers with a shard selector, beyond the clauses of the contract. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer, partitionRanges } from '../../../../src/index.ts';
import { InProcessBackend } from '../../../../src/informer/threads/in-process-backend.ts';
import { PODS, WIDGETS, annotated, pod } from '../../../kit/objects.ts';
import { RecordingHandler } from '../../../kit/recording-handler.ts';
import { Scene, kubeConfigOf } from '../../../kit/scene.ts';

const UPPER = partitionRanges([1], 2);
/** FNV-1a of the first text is in the upper half of all hashes, that of the second in the lower one. */
const UPPER_UID = 'a';
const LOWER_UID = 'pod-1';
const PAGES = { list: { watchList: 'off' } } as const;
const SERVER = { tls: false, isolation: 'none' } as const;

function withUid(name: string, uid: string): V1Pod {
  return { ...pod(name), metadata: { name, namespace: 'default', uid } };
}

describe('an informer with a shard selector', () => {
  test('keeps namespaces together when their hash decides', async () => {
    await using own = await Scene.start({ server: SERVER, threads: { indexerThreads: 0 } });
    await own.put(
      ...['foo', 'pod-1'].flatMap((namespace) => ['a', 'b'].map((name) => pod(name, {}, namespace))),
    );
    const { informer } = await own.watching({ shardSelector: partitionRanges([0], 2, 'namespace') });
    assert.deepEqual(informer.getStore().listKeys(), ['pod-1/a', 'pod-1/b']);
  });

  test('has no confirmation in lists of custom resources and of metadata, even if the server filters', async () => {
    const server = { ...SERVER, sharding: 'echoes', resources: [WIDGETS] } as const;
    await using own = await Scene.start({ server, threads: { indexerThreads: 0 } });
    await own.put(withUid('mine', UPPER_UID));
    await own.server.apply([
      {
        type: 'put',
        resource: 'widgets.example.com',
        object: { metadata: withUid('mine', UPPER_UID).metadata },
      },
    ]);
    const options = { ...PAGES, shardSelector: UPPER, threads: own.threads };
    const { namespaced: isNamespaced, ...ref } = WIDGETS;
    await using widgets = new SharedIndexInformer(
      kubeConfigOf(own.server),
      { ...ref, isNamespaced },
      options,
    );
    const running = widgets.run();
    const { informer: metadata } = await own.watching({ ...options, view: 'metadata' });
    await widgets.waitForSync();
    await own.until(() => [metadata, widgets].every((informer) => informer.stats().shardFilterSupport));
    assert.equal(metadata.stats().shardFilterSupport, 'filtered-without-echo');
    assert.equal(widgets.stats().shardFilterSupport, 'filtered-without-echo');
    await widgets.shutdown();
    await running;
  });

  test('drops objects of other shards that are too large, too, and keeps the identity of its own', async () => {
    await using own = await Scene.start({
      server: { tls: false },
      threads: { indexerThreads: 0, objectBytesMax: 10_000 },
    });
    const both = [withUid('mine', UPPER_UID), withUid('other', LOWER_UID)];
    const large = { text: 'x'.repeat(1_200_000) };
    await own.put(...both.map((object) => annotated(object, large)));
    const { informer, handler } = await own.watching({ ...PAGES, shardSelector: UPPER });
    await own.put(...both.toReversed().map((object) => annotated(object, { ...large, changed: 'yes' })));
    await handler.count(2);
    assert.deepEqual(handler.names, ['add mine', 'update mine']);
    assert.deepEqual(informer.getStore().listKeys(), ['default/mine']);
    await own.reported();
  });

  test('filters on after its reflector was replaced', async () => {
    let backend: InProcessBackend | undefined;
    const threads = new InformerThreads(
      { indexerThreads: 0 },
      { backend: (...given) => (backend = new InProcessBackend(...given)) },
    );
    await using own = await Scene.start({ server: SERVER, threads });
    own.ends(threads);
    const handler = new RecordingHandler();
    const { informer } = await own.watching({ shardSelector: UPPER }, handler);
    backend?.kill('reflector');
    await own.put(withUid('other', LOWER_UID), withUid('mine', UPPER_UID));
    await handler.count(1);
    assert.deepEqual(informer.getStore().listKeys(), ['default/mine']);
  });

  test('is refused when the selector is malformed', async () => {
    await using threads = new InformerThreads({ indexerThreads: 0 });
    const shardSelector = { key: 'uid', ranges: [] } as const;
    const source = { server: 'http://127.0.0.1:1' };
    assert.throws(() => new SharedIndexInformer(source, PODS, { threads, shardSelector }), {
      code: 'ERR_KUBELOOM_SELECTOR',
      message: /^a shard selector must have at least one range/,
    });
  });
});
