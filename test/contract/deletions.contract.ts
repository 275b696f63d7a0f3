/** Deletions: received in the watch, found by a relist, or of unknown objects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { label } from '../../src/index.ts';
import { configurationWasUsed } from './configuration.ts';
import { Scene, Witness, pod } from './scene.ts';
import { bookmark, event } from './scripted-server.ts';

test('C14 a deletion delivers the last state that the server sent, and the object leaves the cache', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer({ indexers: { app: label('app') } });
  const last: unknown[] = [];
  const witness = new Witness();
  informer.addEventHandler({
    onDelete: (deleted) => void last.push(deleted.key, deleted.object.metadata?.labels?.['app']),
  });
  await scene.put(pod('a', { app: 'web' }), pod('b'));
  await scene.watched(informer, witness);
  const version = await scene.remove('a');
  await witness.count(3);
  const { type, isFinalStateUnknown, version: received } = witness.calls[2] ?? {};
  assert.deepEqual([type, isFinalStateUnknown, received], ['delete', false, version]);
  await scene.until(() => last.length === 2);
  assert.deepEqual(last, ['default/a', 'web']);
  assert.equal(informer.getStore().getByKey('default/a'), undefined);
  assert.deepEqual(informer.getStore().listKeys(), ['default/b']);
  assert.deepEqual(informer.getIndexer().byIndex('app', 'web'), []);
});

test('C46 a deletion that a relist found says so and has the last known state', async () => {
  await using scene = await Scene.start();
  const informer = scene.informer();
  const last: unknown[] = [];
  const witness = new Witness();
  informer.addEventHandler({
    onDelete: (deleted) =>
      void last.push(deleted.finalStateUnknown, deleted.name, deleted.object.spec?.nodeName),
  });
  const [known] = await scene.put(pod('a'));
  await scene.watched(informer, witness);
  await scene.relisted(
    informer,
    { type: 'put', resource: 'pods', object: pod('a', { unseen: 'yes' }) },
    { type: 'delete', resource: 'pods', name: 'a' },
  );
  await witness.count(2);
  const { isFinalStateUnknown, version } = witness.calls[1] ?? {};
  assert.deepEqual([isFinalStateUnknown, version], [true, known]);
  await scene.until(() => last.length === 3);
  assert.deepEqual(last, [true, 'a', 'node-1']);
});

test('C47 a deletion of an unknown object is delivered', async () => {
  await using scene = await Scene.start();
  const { informer } = await scene.scripted((request) => {
    if (!request.isStreamingList) return;
    request.send(bookmark('9', true), event('DELETED', 'unseen', '10'), event('ADDED', 'b', '11'));
  });
  const witness = new Witness();
  informer.addEventHandler(witness);
  void scene.run(informer);
  await witness.count(2);
  assert.deepEqual(witness.lines, ['delete default/unseen@10', 'add default/b@11']);
  assert.deepEqual(informer.getStore().listKeys(), ['default/b']);
});

configurationWasUsed();
