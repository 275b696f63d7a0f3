/** Cases about streams with wrong contents or a wrong order. */
import assert from 'node:assert/strict';
import type { FaultAction } from '../../../src/tools/apiserver/testing/index.ts';
import { pod, put } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';
import { EXPIRED, GONE, STREAMING, onlyWatches, relistedFrom, relists, resumes, strike } from './strikes.ts';
import type { FaultCase } from './fault-case.ts';
import type { SimulatedScene as Scene } from './simulated-scene.ts';

const ORDER = 'ERR_KUBELOOM_OUT_OF_ORDER';
const UNEXPECTED = 'ERR_KUBELOOM_UNEXPECTED_OBJECT';
const NO_END = 'ERR_KUBELOOM_NO_END_BOOKMARK';

const inserted = (objects: readonly unknown[], type = 'ADDED'): FaultAction => ({
  type: 'insert',
  lines: objects.map((object) => `${JSON.stringify({ type, object })}\n`),
});

async function times(scene: Scene, action: FaultAction, count: number): Promise<string> {
  const id = await scene.fault(action, { verb: 'watch', afterEvents: 2 }, count);
  await scene.untilLanded(id, count);
  await scene.untilReceived(50);
  await scene.heal();
  assert.deepEqual(await scene.asked(), [], 'the watch goes on');
  return `${count} times, and the watch went on`;
}

/** A relist whose streaming list is rejected in some way. */
async function withoutStreaming(scene: Scene, action: FaultAction): Promise<string> {
  await scene.fault(action, STREAMING, 'always');
  await strike(scene, EXPIRED);
  return relistedFrom(scene, /^stream \d+.*list \d+, watch \d+$/);
}

export const CASES_OF_STREAMS: readonly FaultCase<Scene>[] = [
  {
    id: '21',
    what: 'events come twice',
    expected: 'delivered once',
    run: async (scene) => {
      const seen = await times(scene, { type: 'duplicate' }, 20);
      const { delivered } = scene.recorder.histories;
      const revisions = delivered.flatMap((record) => ('key' in record ? [record.revision] : []));
      assert.equal(new Set(revisions).size, revisions.length, 'each revision once');
      return seen;
    },
  },
  {
    id: '22a',
    what: 'an old event of an object after a newer one',
    expected: 'ignored and counted',
    codes: [ORDER],
    run: (scene) => times(scene, { type: 'older' }, 10),
  },
  {
    id: '22b',
    what: 'an old event of one object after a newer one of another',
    expected: 'delivered',
    // The oracle has the server's order; the order on the wire differs.
    excused: ['I5', 'I4', 'I4b', 'I2', 'I9b'],
    run: (scene) => times(scene, { type: 'swap' }, 10),
  },
  {
    id: '24',
    what: 'the bookmark at the end of a streaming list never comes; the load goes on',
    expected: 'abandoned for a list; before that nothing of it is in the cache',
    codes: [GONE, NO_END],
    informer: { list: { idleTimeoutMs: 700 } },
    run: (scene) => withoutStreaming(scene, { type: 'drop', of: 'BOOKMARK' }),
  },
  {
    id: '25a',
    what: 'streaming lists are refused with 400 and 422',
    expected: 'lists, and watches from there',
    codes: [GONE],
    run: async (scene) => {
      await withoutStreaming(scene, { type: 'answer', status: 400 });
      // A watch that expires before its first event would be a loop.
      await scene.untilResumed(0);
      await scene.mark();
      return withoutStreaming(scene, { type: 'answer', status: 422 });
    },
  },
  {
    id: '25b',
    what: 'the request for a streaming list is silently ignored',
    expected: 'found by the missing end; lists',
    codes: [GONE, NO_END],
    informer: { list: { idleTimeoutMs: 700 } },
    run: (scene) => withoutStreaming(scene, { type: 'no-initial-events' }),
  },
  {
    id: '26a',
    what: 'bookmarks that are older than the last event',
    expected: 'ignored and counted',
    codes: [ORDER],
    run: (scene) => times(scene, { type: 'bookmark', offset: -50 }, 3),
  },
  {
    id: '26b',
    what: 'a bookmark that is ahead of events that are still to come',
    expected: 'found with the next of these events; lists',
    codes: ['ERR_KUBELOOM_TIME_TRAVEL'],
    run: relists(/^stream$/, { type: 'bookmark', offset: 1000 }, { verb: 'watch', afterEvents: 5 }),
  },
  {
    id: '27',
    what: 'only bookmarks for longer than the history reaches, then the watch ends',
    expected: 'resumes from the bookmark, no list',
    run: async (scene) => {
      scene.stopLoad();
      for (let round = 0; round < 5; round++) {
        const object = { metadata: { name: `other-${round}` } };
        await scene.apply({ type: 'put', resource: 'configmaps', object });
        await scene.server.sendBookmarks();
      }
      await scene.untilCurrent();
      await scene.server.compact();
      await scene.untilLanded(await scene.fault({ type: 'end' }));
      scene.startLoad();
      await scene.untilReceived(50);
      await scene.heal();
      return onlyWatches(scene);
    },
  },
  {
    id: '28',
    what: 'bookmarks without metadata',
    expected: 'reported; resumes from the last good position',
    codes: ['ERR_KUBELOOM_MALFORMED_EVENT'],
    run: resumes({ type: 'bookmark', offset: 0, metadata: null }, { verb: 'watch', afterEvents: 5 }),
  },
  {
    id: '29',
    what: 'another kind, a Table and a Status as additions',
    expected: 'reported and skipped; the position does not move',
    codes: [UNEXPECTED],
    run: (scene) => {
      const metadata = { name: 'x', namespace: 'default', resourceVersion: '999999999' };
      const objects = [
        { kind: 'Secret', apiVersion: 'v1', metadata },
        { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '999999999' }, rows: [] },
        { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
      ];
      return times(scene, inserted(objects), 1);
    },
  },
  {
    id: '30a',
    what: 'objects without a name, without metadata, without a version',
    expected: 'reported and skipped',
    codes: ['ERR_KUBELOOM_OBJECT_WITHOUT_NAME', 'ERR_KUBELOOM_NO_RESOURCE_VERSION'],
    run: (scene) => {
      const type = { kind: 'Pod', apiVersion: 'v1' };
      const objects = [
        { ...type, metadata: { namespace: 'default', resourceVersion: '5' } },
        type,
        { ...type, metadata: { name: 'x', namespace: 'default', uid: 'u' } },
      ];
      return times(scene, inserted(objects), 1);
    },
  },
  {
    id: '30b',
    what: 'null for an object, a line that is not JSON',
    expected: 'reported; resumes from the last good event',
    codes: ['ERR_KUBELOOM_MALFORMED_EVENT'],
    run: async (scene) => {
      await strike(scene, inserted([null]), { verb: 'watch', afterEvents: 5 });
      await strike(
        scene,
        { type: 'insert', lines: ['{"type":"ADDED","object":{]}\n'] },
        { verb: 'watch', afterEvents: 50 },
      );
      return onlyWatches(scene);
    },
  },
  {
    id: '31',
    what: 'an event of an unknown type',
    expected: 'reported and skipped',
    codes: ['ERR_KUBELOOM_MALFORMED_EVENT'],
    run: (scene) => times(scene, inserted([{ kind: 'Pod', apiVersion: 'v1' }], 'FOO'), 1),
  },
  {
    id: '32',
    what: 'MODIFIED of an unknown object, ADDED of a known one',
    expected: 'an addition and an update',
    run: async (scene) => {
      await times(scene, { type: 'retype', from: 'MODIFIED', to: 'ADDED' }, 10);
      const id = await scene.fault({ type: 'retype', from: 'ADDED', to: 'MODIFIED' });
      await scene.apply(put(pod('unknown')));
      await scene.untilLanded(id);
      await scene.heal();
      return '10 updates, one addition';
    },
  },
  {
    id: '33',
    what: 'a label leaves the selector and comes back',
    expected: 'a deletion and an addition',
    run: selector,
  },
];

async function selector(scene: Scene): Promise<string> {
  const informer = scene.newInformer({ labelSelector: 'chosen=yes' });
  const handler = new RecordingHandler();
  informer.addEventHandler(handler);
  void informer.run().catch(() => undefined);
  await scene.until(() => informer.hasSynced(), 'the other informer has synced');
  for (const chosen of ['yes', 'no', 'yes']) await scene.apply(put(pod('moody', { chosen })));
  scene.own.push('labels');
  await scene.until(() => handler.calls.length >= 3, 'three changes are delivered');
  assert.deepEqual(handler.names, ['add moody', 'delete moody', 'add moody']);
  return handler.names.join(', ');
}
