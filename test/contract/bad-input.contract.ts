/** Malformed input from a server. */
import assert from 'node:assert/strict';
import { bookmark, event, list, wirePod } from '../kit/scripted-server.ts';
import { configurationWasUsed, test } from './scene.ts';

test('C23 a malformed line is reported, and the watch resumes from the last good event', async (scene) => {
  const { server, handler } = await scene.followed((request, number) => {
    if (number === 0)
      request.send(
        bookmark('9', true),
        event('ADDED', 'a', '11'),
        '{"type":"ADDED","object":{"ki\n',
        event('ADDED', 'unread', '12'),
      );
    else if (number === 1) request.send(event('ADDED', 'b', '12'), event('MODIFIED', 'a', '13'));
  });
  await handler.count(2);
  assert.deepEqual(handler.names.slice(0, 2), ['add a', 'add b']);
  await handler.count(3);
  assert.deepEqual(handler.lines, ['add default/a@11', 'add default/b@12', 'update default/a@13']);
  assert.equal(server.requests[1]?.query['resourceVersion'], '11');
  await scene.reported('ERR_KUBELOOM_MALFORMED_EVENT');
  assert.match(scene.errors[0]?.message ?? '', /ADDED/);
});

test('C2 events are read as values of JSON: several on a line, over several lines, and with spaces', async (scene) => {
  const text = (name: string, version: string, space?: number): string =>
    JSON.stringify(
      { type: 'ADDED', object: wirePod(name, version, { spec: { nodeName: name } }) },
      null,
      space,
    );
  const { server, informer, handler } = await scene.followed((request, number) => {
    if (number !== 0) return;
    request.send(bookmark('9', true), `${text('a', '10')}${text('b', '11')}\n`);
    request.send(
      `${text('c', '12').replace(',"object"', '\n,"object"')}\n`,
      text('d', '13', 1),
      text('e', '14'),
    );
  });
  await handler.count(5);
  const entries = informer.getStore().list();
  assert.deepEqual(
    entries.map(({ key, spec, object }) => [key, spec?.nodeName, object.spec?.nodeName]),
    ['a', 'b', 'c', 'd', 'e'].map((name) => [`default/${name}`, name, name]),
  );
  assert.equal(server.requests.length, 1);
  assert.deepEqual(scene.errors, []);
});

test('C70 an object without a name is reported and skipped, and its neighbours are delivered', async (scene) => {
  const nameless = { kind: 'Pod', apiVersion: 'v1', metadata: { namespace: 'x', resourceVersion: '8' } };
  const { handler } = await scene.followed(
    (request) => {
      if (!request.isWatch) request.answer(200, list('9', [wirePod('a', '7'), nameless, wirePod('b', '8')]));
      else request.send({ type: 'ADDED', object: nameless }, event('ADDED', 'c', '11'));
    },
    { list: { watchList: 'off' } },
  );
  await handler.count(3);
  assert.deepEqual(handler.names, ['add a', 'add b', 'add c']);
  await scene.reported('ERR_KUBELOOM_OBJECT_WITHOUT_NAME', 'ERR_KUBELOOM_OBJECT_WITHOUT_NAME');
});

test('C71 an object that is not JSON is in the cache, and reading it throws an error that names it', async (scene) => {
  const broken =
    '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"broken","namespace":"default",' +
    '"uid":"u","resourceVersion":"10"},"spec":{"nodeName":tru}}}\n';
  const { informer, handler } = await scene.followed((request, number) => {
    if (number === 0) request.send(bookmark('9', true), broken, event('ADDED', 'good', '11'));
  });
  await handler.count(2);
  assert.deepEqual(handler.lines, ['add default/broken@10', 'add default/good@11']);
  const entry = informer.getStore().getByKey('default/broken');
  const malformed = { code: 'ERR_KUBELOOM_MALFORMED_OBJECT', message: /default\/broken@10/ };
  assert.throws(() => entry?.object, malformed);
  assert.throws(() => entry?.copy(), malformed);
  assert.match(String(entry?.bytes()), /"nodeName":tru/);
  assert.equal(informer.getStore().getByKey('default/good')?.object.metadata?.name, 'good');
});

test('C72 objects of another kind and events of an unknown type are reported and skipped', async (scene) => {
  const stranger = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', resourceVersion: '20' } };
  const { server, handler } = await scene.followed((request, number) => {
    if (number > 0) return;
    request.send(bookmark('9', true), event('ADDED', 'a', '10'), { type: 'ADDED', object: stranger });
    const { kind, ...rest } = stranger;
    request.send({ type: 'ADDED', object: { metadata: rest.metadata, kind, apiVersion: 'v1' } });
    request.send({ type: 'STRANGE', object: stranger }).end();
  });
  const again = await server.request(1);
  again.send(event('ADDED', 'b', '21'));
  await handler.count(2);
  assert.deepEqual(handler.names.slice(0, 2), ['add a', 'add b']);
  const unexpected = 'ERR_KUBELOOM_UNEXPECTED_OBJECT';
  await scene.reported(unexpected, unexpected, 'ERR_KUBELOOM_MALFORMED_EVENT');
});

test('C71 a malformed object has its uid even if its labels cannot be read', async (scene) => {
  const metadata =
    '"name":"broken","namespace":"default","uid":"u","resourceVersion":"10","labels":{"a":tru}';
  const broken = `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{${metadata}}}}\n`;
  const { informer, handler } = await scene.followed((request, number) => {
    if (number === 0) request.send(bookmark('9', true), broken);
  });
  await handler.count(1);
  assert.deepEqual(handler.lines, ['add default/broken@10']);
  const entry = informer.getStore().getByKey('default/broken');
  assert.throws(() => entry?.object, { code: 'ERR_KUBELOOM_MALFORMED_OBJECT' });
  assert.equal(entry?.uid, 'u');
  assert.deepEqual(entry?.labels, {});
});

test('C72 an object whose name or namespace has a slash or is not UTF-8 is reported and skipped', async (scene) => {
  const added = (name: string, namespace: string): object => {
    const metadata = { name, namespace, uid: 'u', resourceVersion: '10' };
    return { type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata } };
  };
  const lineOf = (name: string): Buffer => Buffer.from(`${JSON.stringify(added(name, 'n'))}\n`, 'latin1');
  const { server, informer, handler } = await scene.followed((request, number) => {
    if (number > 0) return;
    // Each two of these would have the same key.
    request.send(added('z', 'x/y'), added('y/z', 'x'), lineOf('x\xff'), lineOf('x\xfe'));
    request.send(event('ADDED', 'a', '10'), bookmark('11', true));
    request.send(lineOf('y\xff'), event('ADDED', 'b', '12'));
  });
  await handler.count(2);
  assert.deepEqual(informer.getStore().listKeys(), ['default/a', 'default/b']);
  assert.equal(server.requests.length, 1);
  await scene.reported(...Array.from({ length: 5 }, () => 'ERR_KUBELOOM_UNEXPECTED_OBJECT'));
});

test('C71 an empty uid or namespace counts as absent wherever it is in the object, and the object is complete', async (scene) => {
  const members = [
    { name: 'a', namespace: 'default', uid: '', resourceVersion: '10' },
    { uid: '', name: 'b', namespace: 'default', resourceVersion: '11' },
    { resourceVersion: '12', uid: '', namespace: '', name: 'c' },
    { name: 'd', namespace: '', uid: 'u', resourceVersion: '13' },
  ];
  const { informer, handler } = await scene.followed((request, number) => {
    if (number > 0) return;
    request.send(bookmark('9', true));
    for (const identity of members) {
      const metadata = { ...identity, labels: { app: 'web' } };
      request.send({ type: 'ADDED', object: { kind: 'Pod', apiVersion: 'v1', metadata } });
    }
  });
  await handler.count(4);
  const entries = informer.getStore().list();
  assert.deepEqual(
    entries.map(({ key, uid, labels, object }) => [
      key,
      uid,
      labels['app'],
      object.metadata?.labels?.['app'],
    ]),
    [
      ['default/a', '', 'web', 'web'],
      ['default/b', '', 'web', 'web'],
      ['c', '', 'web', 'web'],
      ['d', 'u', 'web', 'web'],
    ],
  );
});

configurationWasUsed();
