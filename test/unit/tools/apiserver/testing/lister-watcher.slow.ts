/** A user's `list` and `watch` feed the whole pipeline, in all its variants. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../../../../src/index.ts';
import type { WatchEvent } from '../../../../../src/index.ts';
import { FakeControllerSource, settled } from '../../../../../src/tools/apiserver/testing/index.ts';
import { PODS, pod } from '../../../../kit/objects.ts';
import { Scripted, listOf, nothing, oneAndThrow, podAt, watchOf } from './scripted-source.ts';
import { SourcedInformer, THREADS, until } from './sourced-informer.ts';

const SMALL_RING_BYTES = 16 * 1024;

for (const threads of THREADS) {
  describe(`a ListerWatcher of the user's, threads: ${threads}`, () => {
    it('receives requests for pages', async () => {
      const source = new Scripted((options) => {
        const at = Number(options.continue ?? 0);
        return listOf([podAt(`p${at}`, `${at + 1}`)], '9', at < 2 ? String(at + 1) : '');
      });
      await using scene = new SourcedInformer(source, threads, {
        list: { pageSize: 1 },
        labelSelector: 'a=b',
      }).run();
      await scene.informer.waitForSync();
      assert.deepEqual(scene.informer.getStore().listKeys().sort(), [
        'default/p0',
        'default/p1',
        'default/p2',
      ]);
      assert.deepEqual(source.lists, [
        { labelSelector: 'a=b', resourceVersion: '0', limit: 1 },
        { labelSelector: 'a=b', limit: 1, continue: '1' },
        { labelSelector: 'a=b', limit: 1, continue: '2' },
      ]);
      assert.equal(scene.informer.lastSyncResourceVersion(), '9');
    });

    it('TransformingInformer: store, events and old objects are transformed', async () => {
      const source = new FakeControllerSource<V1Pod>();
      source.add(pod('one', { from: 'add' }));
      source.modify(pod('one', { from: 'modify' }));
      const labels: string[] = [];
      await using scene = new SourcedInformer(source, threads, {
        transform: (object) => ({
          ...object,
          metadata: { ...object.metadata, labels: { from: `${object.metadata?.labels?.['from']}!` } },
        }),
      });
      scene.informer.addEventHandler({
        onAdd: (added) => void labels.push(`add ${added.labels['from']}`),
        onUpdate: (old, current) =>
          void labels.push(`update ${old.labels['from']} ${current.labels['from']}`),
        onDelete: (deleted) =>
          void labels.push(`delete ${'labels' in deleted ? deleted.labels['from'] : ''}`),
      });
      scene.run();
      await settled(scene.informer);
      source.modify(pod('one', { from: 'later' }));
      await settled(scene.informer);
      assert.equal(scene.informer.getStore().getByKey('default/one')?.labels['from'], 'later!');
      source.delete(pod('one', { from: 'last' }));
      await settled(scene.informer);
      assert.deepEqual(labels, ['add modify!', 'update modify! later!', 'delete last!']);
    });

    it('C131 resumes after the last event when watch() or a watch throws, and lists when the error says 410', async () => {
      let refusals = 1;
      const thrown = [
        new Error('torn'),
        Object.assign(new Error('gone'), { httpStatus: 410, reason: 'Expired' }),
      ];
      const source = new Scripted(
        ({ resourceVersion }) => listOf([podAt('a', '1')], resourceVersion === '0' ? '1' : '9'),
        ({ resourceVersion }) => {
          if (refusals-- > 0) throw new Error('cable cut');
          const error = thrown.shift();
          const object = podAt(`after-${resourceVersion}`, `${Number(resourceVersion) + 1}`);
          return watchOf(() => (error ? oneAndThrow({ type: 'ADDED', object }, error) : nothing()));
        },
      );
      await using scene = new SourcedInformer(source, threads).run();
      await scene.recorder.until(() => scene.recorder.calls.at(-1)?.type === 'update');
      const { seen } = scene;
      assert.deepEqual(seen.slice(0, 3), [
        'add default/a@1!',
        'add default/after-1@2',
        'add default/after-2@3',
      ]);
      // Deletions have no order among themselves: each shard finds its own.
      assert.deepEqual(seen.slice(3, 5).toSorted(), ['delete default/after-1@2', 'delete default/after-2@3']);
      assert.deepEqual(seen.slice(5), ['update default/a@1']);
      await until(() => source.watches.length === 4);
      const versions = source.watches.map(({ resourceVersion }) => resourceVersion);
      assert.deepEqual(versions, ['1', '1', '2', '9']);
      await scene.error('ERR_KUBELOOM_LISTER_WATCHER', /watch\(\) of the ListerWatcher failed: cable cut/);
      await scene.error('ERR_KUBELOOM_LISTER_WATCHER', /torn/);
      assert.match((await scene.error('ERR_KUBELOOM_GONE')).message, /gone/);
    });

    it('uses streaming lists when the source has them', async () => {
      const source = new FakeControllerSource<V1Pod>({ watchList: true });
      source.add(pod('a'));
      await using scene = new SourcedInformer(source, threads).run();
      await settled(scene.informer);
      source.add(pod('b'));
      await settled(scene.informer);
      assert.deepEqual(scene.seen, ['add default/a@1!', 'add default/b@2']);
      const [first, ...others] = source.requests;
      const { timeoutSeconds, ...options } = first?.options ?? {};
      assert.deepEqual(options, {
        allowWatchBookmarks: true,
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
      });
      assert.ok(timeoutSeconds !== undefined && timeoutSeconds >= 300);
      assert.deepEqual(others, []);
    });

    it('C132 is not read ahead of the pipeline without bound, and loses nothing', async () => {
      const count = 100_000;
      let aheadMax = 0;
      async function* events(from: number): AsyncGenerator<WatchEvent<V1Pod>> {
        for (let version = from; version <= count; version++) {
          aheadMax = Math.max(aheadMax, version - Number(scene.informer.lastSyncResourceVersion()));
          yield { type: 'MODIFIED', object: { metadata: { name: 'a', resourceVersion: String(version) } } };
        }
      }
      const source = new Scripted(
        () => listOf([], '1'),
        ({ resourceVersion }) => watchOf(() => events(Number(resourceVersion) + 1)),
      );
      await using scene: SourcedInformer = new SourcedInformer(source, threads, {}, SMALL_RING_BYTES);
      scene.run();
      await scene.recorder.until(() => scene.recorder.calls.at(-1)?.version === String(count));
      assert.equal(scene.seen.length, count - 1);
      // 256 KiB of such events in messages, and the content of rings of 16 KiB.
      assert.ok(aheadMax < 10_000, `${aheadMax} events ahead`);
    });

    it('C133 is stopped and released when the informer stops while watch() has not returned', async () => {
      let aborted: AbortSignal | undefined;
      let stops = 0;
      const asked = defer();
      const slow = new Scripted(
        () => listOf([], '1'),
        async (_options, signal) => {
          aborted = signal;
          asked.resolve();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return watchOf(nothing, () => stops++);
        },
      );
      const other = new SourcedInformer(slow, threads).run();
      await asked.promise;
      await other[Symbol.asyncDispose]();
      assert.equal(aborted?.aborted, true);
      // A watch that was opened too late is stopped as well.
      await until(() => stops > 0);
    });
  });
}

function defer(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

describe('an informer over a ListerWatcher', () => {
  it('refuses a namespace, which the ListerWatcher must choose itself', () => {
    assert.throws(
      () => new SharedIndexInformer<V1Pod>(new FakeControllerSource<V1Pod>(), PODS, { namespace: 'web' }),
      { code: 'ERR_KUBELOOM_OPTION', message: /leave namespace out/ },
    );
  });
});
