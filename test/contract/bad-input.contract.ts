/** What no server should send. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configurationWasUsed } from './configuration.ts';
import { Scene, Witness } from './scene.ts';
import { bookmark, event, list, wirePod } from './scripted-server.ts';

test('C23 a malformed line is reported and the watch goes on from the last good event', async () => {
  await using scene = await Scene.start();
  const { server, informer } = await scene.scripted((request, number) => {
    if (number === 0)
      request.send(bookmark('9', true), event('ADDED', 'a', '11'), '{"type":"ADDED","object":{"ki\n');
    else if (number === 1) request.send(event('ADDED', 'b', '12'), event('MODIFIED', 'a', '13'));
  });
  const witness = new Witness();
  informer.addEventHandler(witness);
  void scene.run(informer);
  await witness.count(3);
  assert.deepEqual(witness.lines, ['add default/a@11', 'add default/b@12', 'update default/a@13']);
  assert.equal(server.requests[1]?.query['resourceVersion'], '11');
  await scene.reported('ERR_KUBELOOM_MALFORMED_EVENT');
  assert.match(scene.errors[0]?.message ?? '', /ADDED/);
});

test('C70 an object without a name is reported and skipped, its neighbours are not', async () => {
  await using scene = await Scene.start();
  const nameless = { kind: 'Pod', apiVersion: 'v1', metadata: { namespace: 'x', resourceVersion: '8' } };
  const { informer } = await scene.scripted(
    (request) => {
      if (!request.isWatch) request.answer(200, list('9', [wirePod('a', '7'), nameless, wirePod('b', '8')]));
      else request.send({ type: 'ADDED', object: nameless }, event('ADDED', 'c', '11'));
    },
    { watchList: 'off' },
  );
  const witness = new Witness();
  informer.addEventHandler(witness);
  void scene.run(informer);
  await witness.count(3);
  assert.deepEqual(witness.names, ['add a', 'add b', 'add c']);
  await scene.reported('ERR_KUBELOOM_OBJECT_WITHOUT_NAME', 'ERR_KUBELOOM_OBJECT_WITHOUT_NAME');
});

test('C71 an object that is no JSON is in the cache, and reading it throws, naming it', async () => {
  await using scene = await Scene.start();
  const broken =
    '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"broken","namespace":"default",' +
    '"uid":"u","resourceVersion":"10"},"spec":{"nodeName":tru}}}\n';
  const { informer } = await scene.scripted((request, number) => {
    if (number === 0) request.send(bookmark('9', true), broken, event('ADDED', 'good', '11'));
  });
  const witness = new Witness();
  informer.addEventHandler(witness);
  void scene.run(informer);
  await witness.count(2);
  assert.deepEqual(witness.lines, ['add default/broken@10', 'add default/good@11']);
  const entry = informer.getStore().getByKey('default/broken');
  const malformed = { code: 'ERR_KUBELOOM_MALFORMED_OBJECT', message: /default\/broken@10/ };
  assert.throws(() => entry?.object, malformed);
  assert.throws(() => entry?.copy(), malformed);
  assert.match(String(entry?.bytes()), /"nodeName":tru/);
  assert.equal(informer.getStore().getByKey('default/good')?.object.metadata?.name, 'good');
});

test('C72 objects of another kind and events of an unknown type are reported and skipped', async () => {
  await using scene = await Scene.start();
  const stranger = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', resourceVersion: '20' } };
  const { server, informer } = await scene.scripted((request, number) => {
    if (number > 0) return;
    request.send(bookmark('9', true), event('ADDED', 'a', '10'), { type: 'ADDED', object: stranger });
    request.send({ type: 'STRANGE', object: stranger }).end();
  });
  const witness = new Witness();
  informer.addEventHandler(witness);
  void scene.run(informer);
  const again = await server.request(1);
  again.send(event('ADDED', 'b', '21'));
  await witness.count(2);
  assert.deepEqual(witness.names, ['add a', 'add b']);
  await scene.reported('ERR_KUBELOOM_UNEXPECTED_OBJECT', 'ERR_KUBELOOM_UNKNOWN_EVENT_TYPE');
});

test('C71 a malformed object has its uid, also where its labels cannot be read', async () => {
  await using scene = await Scene.start();
  const metadata =
    '"name":"broken","namespace":"default","uid":"u","resourceVersion":"10","labels":{"a":tru}';
  const broken = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{${metadata}}}}\n`;
  const { informer } = await scene.scripted((request, number) => {
    if (number === 0) request.send(bookmark('9', true), broken);
  });
  const witness = new Witness();
  informer.addEventHandler(witness);
  void scene.run(informer);
  await witness.count(1);
  assert.deepEqual(witness.lines, ['add default/broken@10']);
  const entry = informer.getStore().getByKey('default/broken');
  assert.throws(() => entry?.object, { code: 'ERR_KUBELOOM_MALFORMED_OBJECT' });
  assert.equal(entry?.uid, 'u');
  assert.deepEqual(entry?.labels, {});
});

configurationWasUsed();
