/** Requests with which an informer lists, and the reaction to a failed request. */
import assert from 'node:assert/strict';
import { bookmark, event, list, status, wirePod } from '../kit/scripted-server.ts';
import { configurationWasUsed, pod, pods, test } from './scene.ts';

test('C78 the first request is a streaming list, and the next one is the watch', async (scene) => {
  await scene.put(pod('a', { app: 'web' }));
  await scene.watching({ labelSelector: 'app=web' });
  const [request, ...others] = await scene.server.requests();
  assert.equal(others.length, 0);
  const { timeoutSeconds, ...query } = request?.query ?? {};
  assert.deepEqual(query, {
    labelSelector: 'app=web',
    watch: 'true',
    allowWatchBookmarks: 'true',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  });
  assert.ok(Number(timeoutSeconds) >= 300 && Number(timeoutSeconds) <= 600);
});

test('C79 a server without streaming lists receives a list, and another attempt at the next relist', async (scene) => {
  const { server, handler } = await scene.followed((request, number) => {
    if (request.isStreamingList && number === 0) request.answer(400, status(400, 'BadRequest', 'forbidden'));
    else if (!request.isWatch) request.answer(200, list('9', [wirePod('a', '5')]));
    else if (!request.isStreamingList) request.send({ type: 'ERROR', object: status(410, 'Expired') });
    else request.send(event('ADDED', 'b', '12'), bookmark('12', true));
  });
  await handler.count(3);
  assert.deepEqual(handler.names, ['add a', 'delete a', 'add b']);
  assert.deepEqual(server.asked, ['stream', 'list 0', 'watch 9', 'stream 9']);
  await scene.reported('ERR_KUBELOOM_GONE');
});

test('C80 a list asks for version 0 at first, for the latest received version later, and never for an older one', async (scene) => {
  const { server } = await scene.followed(
    (request, number) => {
      if (!request.isWatch) request.answer(200, list(`${number + 10}`, [wirePod('a', '5')]));
      else if (number === 1)
        request.send(event('ADDED', 'b', '20'), { type: 'ERROR', object: status(410, 'Expired') });
    },
    { list: { watchList: 'off' } },
  );
  await server.request(3);
  const queries = server.requests.map(({ query: { timeoutSeconds: _random, ...query } }) => query);
  assert.deepEqual(queries, [
    { resourceVersion: '0', limit: '500' },
    { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '10' },
    { resourceVersion: '20' },
    { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '12' },
  ]);
});

test('C80 the first list asks for the most recent state when the informer requires it', async (scene) => {
  const options = { list: { watchList: 'off', initialList: 'latest' } } as const;
  const { server } = await scene.followed((request) => request.answer(200, list('9', [])), options);
  assert.deepEqual((await server.request(0)).query, { limit: '500' });
});

test('C81 a list in pages is complete, of one version, and follows the server’s continue token', async (scene) => {
  await scene.put(...pods(35));
  // At version 0 a server returns everything at once, whatever the limit; let it fail.
  await scene.failRequests(410);
  const { informer, handler } = await scene.watching({ list: { watchList: 'off', pageSize: 10 } });
  assert.equal(handler.calls.length, 35);
  await scene.assertEqualsServer(informer);
  const [, ...lists] = (await scene.server.requests()).filter(({ watch }) => !watch);
  assert.equal(lists.length, 4);
  for (const [page, { query }] of lists.entries()) {
    assert.equal(query['limit'], '10');
    assert.deepEqual([query['resourceVersion'], 'continue' in query], [undefined, page > 0]);
  }
  assert.equal(informer.lastSyncResourceVersion(), String(await scene.server.revision()));
});

test('C82 one full list replaces the pages that expire during a list', async (scene) => {
  const { server, informer, handler } = await scene.followed(
    (request, number) => {
      if (number === 0) request.answer(200, list('9', [wirePod('gone', '3')], { continue: 'token' }));
      else if (number === 1) request.answer(410, status(410, 'Expired'));
      else if (number === 2) request.answer(200, list('12', [wirePod('a', '11'), wirePod('b', '12')]));
    },
    { list: { watchList: 'off', pageSize: 1 } },
  );
  await handler.count(2);
  assert.deepEqual(handler.names, ['add a', 'add b']);
  assert.deepEqual(server.requests[1]?.query, { limit: '1', continue: 'token' });
  assert.deepEqual(server.requests[2]?.query, { resourceVersion: '0' });
  assert.equal(informer.lastSyncResourceVersion(), '12');
  assert.deepEqual(scene.errors, []);
});

function timeout(cause: object): object {
  return status(504, 'Timeout', 'no', { causes: [cause] });
}

const UNAVAILABLE: readonly (readonly [title: string, code: number, body: object])[] = [
  ['410 Expired', 410, status(410, 'Expired')],
  ['410 Gone', 410, status(410, 'Gone')],
  ['504 and the cause ResourceVersionTooLarge', 504, timeout({ reason: 'ResourceVersionTooLarge' })],
  ['504 and a cause with this message', 504, timeout({ message: 'Too large resource version' })],
  ['504 and this message', 504, status(504, 'Timeout', 'Too large resource version: 99, current: 5')],
];

for (const [title, code, body] of UNAVAILABLE) {
  test(`C83 a list that fails with ${title} asks at once for the newest version`, async (scene) => {
    const { server, informer } = await scene.followed(
      (request, number) => {
        if (number === 0) request.answer(code, body);
        else if (number === 1) request.answer(200, list('9', [wirePod('a', '5')]));
      },
      // A backoff would exceed the time limit of the test.
      { list: { watchList: 'off' }, backoff: { initialMs: 3_600_000, maxMs: 3_600_000 } },
    );
    await informer.waitForSync();
    const [first, second] = server.requests;
    assert.deepEqual(
      [first?.query, second?.query],
      [{ resourceVersion: '0', limit: '500' }, { limit: '500' }],
    );
    assert.deepEqual(scene.errors, []);
  });
}

test('C84 a streaming list that breaks off has no effect, and the informer begins it again', async (scene) => {
  const { server, informer, handler } = await scene.followed((request, number) => {
    if (number === 0) request.send(event('ADDED', 'stale', '5'), event('ADDED', 'a', '4')).end();
    else request.send(event('ADDED', 'a', '4'), event('ADDED', 'b', '8'), bookmark('9', true));
  });
  await handler.count(2);
  assert.deepEqual(handler.lines, ['add default/a@4', 'add default/b@8']);
  assert.deepEqual(informer.getStore().listKeys(), ['default/a', 'default/b']);
  assert.deepEqual(server.asked.slice(0, 2), ['stream', 'stream']);
  assert.equal(informer.lastSyncResourceVersion(), '9');
});

test('C84 changes during a streaming list are part of it', async (scene) => {
  const { handler } = await scene.followed((request) => {
    request.send(event('ADDED', 'a', '4'), event('ADDED', 'b', '5'), event('ADDED', 'c', '6'));
    request.send(event('MODIFIED', 'a', '7'), event('DELETED', 'b', '8'), bookmark('9', true));
  });
  await handler.count(2);
  assert.deepEqual(handler.lines, ['add default/a@7', 'add default/c@6']);
  assert.ok(handler.calls.every(({ isInInitialList }) => isInInitialList));
});

configurationWasUsed();
