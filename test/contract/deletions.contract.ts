/** Deletions: received in the watch, found by a relist, or of unknown objects. */
import assert from 'node:assert/strict';
import { label } from '../../src/index.ts';
import { configurationWasUsed } from './configuration.ts';
import { RecordingHandler, deletion, pod, put, test } from './scene.ts';
import { bookmark, event } from '../kit/scripted-server.ts';

test('C14 a deletion delivers the last state that the server sent, and the object leaves the cache', async (scene) => {
  const informer = scene.informer({ indexers: { app: label('app') } });
  const last: unknown[] = [];
  const handler = new RecordingHandler();
  informer.addEventHandler({
    onDelete: (deleted) => void last.push(deleted.key, deleted.object.metadata?.labels?.['app']),
  });
  await scene.put(pod('a', { app: 'web' }), pod('b'));
  await scene.watched(informer, handler);
  const version = await scene.remove('a');
  await handler.count(3);
  const { type, isFinalStateUnknown, version: received } = handler.calls[2] ?? {};
  assert.deepEqual([type, isFinalStateUnknown, received], ['delete', false, version]);
  await scene.until(() => last.length === 2);
  assert.deepEqual(last, ['default/a', 'web']);
  assert.equal(informer.getStore().getByKey('default/a'), undefined);
  assert.deepEqual(informer.getStore().listKeys(), ['default/b']);
  assert.deepEqual(informer.getIndexer().byIndex('app', 'web'), []);
});

test('C46 a deletion that a relist found says so and has the last known state', async (scene) => {
  const informer = scene.informer();
  const last: unknown[] = [];
  const handler = new RecordingHandler();
  informer.addEventHandler({
    onDelete: (deleted) =>
      void last.push(deleted.finalStateUnknown, deleted.name, deleted.object.spec?.nodeName),
  });
  const [known] = await scene.put(pod('a'));
  await scene.watched(informer, handler);
  await scene.relisted(informer, put(pod('a', { unseen: 'yes' })), deletion('a'));
  await handler.count(2);
  const { isFinalStateUnknown, version } = handler.calls[1] ?? {};
  assert.deepEqual([isFinalStateUnknown, version], [true, known]);
  await scene.until(() => last.length === 3);
  assert.deepEqual(last, [true, 'a', 'node-1']);
});

test('C47 a deletion of an unknown object is delivered', async (scene) => {
  const { informer, handler } = await scene.followed((request) => {
    if (!request.isStreamingList) return;
    request.send(bookmark('9', true), event('DELETED', 'unseen', '10'), event('ADDED', 'b', '11'));
  });
  await handler.count(2);
  assert.deepEqual(handler.lines, ['delete default/unseen@10', 'add default/b@11']);
  assert.deepEqual(informer.getStore().listKeys(), ['default/b']);
});

configurationWasUsed();
