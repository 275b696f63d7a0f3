/** Tests of ListWatches over HTTP, on this thread: their requests, their reading, and their cleanup. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node';
import {
  ListWatch,
  newFilteredListWatchFromClient,
  newListWatchFromClient,
} from '../../../../src/client-go/controller/list-watch.ts';
import type { OptionsModifier } from '../../../../src/client-go/controller/list-watch.ts';
import { newInformer } from '../../../../src/client-go/controller/informer.ts';
import type { ListOptions, WatchEvent } from '../../../../src/kube/lister-watcher.ts';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { AnsweringServer, PODS, kubeConfigFor, until } from './http-scene.ts';
import { TemporaryFolder } from '../../../kit/temporary-folder.ts';
import { RecordingHandler } from './scene.ts';
import { pod, podList } from './scripted-lister-watcher.ts';
import type { Pod } from './scripted-lister-watcher.ts';

const never = (): AbortSignal => new AbortController().signal;
const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const podsOf = (server: AnsweringServer): ListWatch<Pod> =>
  newListWatchFromClient<Pod>(server.kubeConfig, PODS);
const eventsOf = async (server: AnsweringServer): Promise<AsyncIterator<WatchEvent<Pod>>> =>
  (await podsOf(server).watch({}, never()))[Symbol.asyncIterator]();
const bare = ({ metadata }: Pod): object => ({ metadata });

describe('a ListWatch over HTTP', () => {
  test('A list is requested with its options, and its items get the kind and version that the server omits', async () => {
    await using server = await AnsweringServer.listen((_request, response) => {
      const list = podList(7, [], 'next');
      response.end(
        JSON.stringify({ ...list, items: [bare(pod('foo', 3)), { kind: 'Own', metadata: { name: 'bar' } }] }),
      );
    });
    const source = newListWatchFromClient<Pod>(server.kubeConfig, PODS, 'web', 'spec.nodeName=node-7');
    const signal = never();
    const list = await source.list(
      { resourceVersion: '0', limit: 2, continue: '', allowWatchBookmarks: false },
      signal,
    );
    const { searchParams, pathname } = new URL(server.requests[0] ?? '', 'http://server');
    assert.equal(pathname, '/api/v1/namespaces/web/pods');
    assert.deepEqual(Object.fromEntries(searchParams), {
      resourceVersion: '0',
      limit: '2',
      fieldSelector: 'spec.nodeName=node-7',
    });
    assert.deepEqual(list.metadata, { resourceVersion: '7', continue: 'next' });
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    assert.equal(list.kind, 'PodList');
    assert.deepEqual(list.items[0], pod('foo', 3));
    assert.equal(list.items[1]?.kind, 'Own');
  });

  test('C192 a list that cannot be a list is given up at once: its end may never come', async () => {
    await using server = await AnsweringServer.listen((_request, response) => {
      response.write('<html>');
    });
    await assert.rejects(podsOf(server).list({}, never()), { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' });
    await until(async () => (await server.connections()) === 0);
  });

  test('C192 a watch whose line has no end is given up', async () => {
    await using server = await AnsweringServer.listen((_request, response) => {
      const piece = Buffer.alloc(2 ** 20, 'x');
      response.write('{"type":"');
      const more = (): void => {
        while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', more);
      };
      more();
    });
    await assert.rejects((await eventsOf(server)).next(), { code: 'ERR_KUBELOOM_MALFORMED_EVENT' });
    await until(async () => (await server.connections()) === 0);
  });

  test('A modifier that returns a promise fails the request: the promise would count as empty options', async () => {
    await using server = await AnsweringServer.listen((_request, response) => void response.end());
    const promised = (async (options: ListOptions) => options) as unknown as OptionsModifier;
    const source = newFilteredListWatchFromClient<Pod>(server.kubeConfig, PODS, '', promised);
    await assert.rejects(source.list({}, never()), { code: 'ERR_KUBELOOM_OPTION' });
    await assert.rejects(source.watch({}, never()), { code: 'ERR_KUBELOOM_OPTION' });
    const rejected = (() => Promise.reject(new Error('no options'))) as unknown as OptionsModifier;
    const broken = newFilteredListWatchFromClient<Pod>(server.kubeConfig, PODS, '', rejected);
    await assert.rejects(broken.list({}, never()), { code: 'ERR_KUBELOOM_OPTION' });
    assert.deepEqual(server.requests, []);
  });

  test('The modifier changes the options of every request; its error fails the request', async () => {
    await using server = await AnsweringServer.listen(
      (_request, response) => void response.end(JSON.stringify(podList(1, []))),
    );
    const seen: ListOptions[] = [];
    const deployments = { ...PODS, group: 'apps', resource: 'deployments', kind: 'Deployment' };
    const source = newFilteredListWatchFromClient<Pod>(server.kubeConfig, deployments, '', (options) => {
      seen.push(options);
      if (seen.length > 2) throw new Error('no more');
      return { ...options, labelSelector: 'app=web' };
    });
    await source.list({}, never());
    const options = { resourceVersion: '4', timeoutSeconds: 300, sendInitialEvents: true };
    (await source.watch(options, never())).stop();
    assert.deepEqual(server.requests, [
      '/apis/apps/v1/deployments?labelSelector=app%3Dweb',
      '/apis/apps/v1/deployments?resourceVersion=4&timeoutSeconds=300&sendInitialEvents=true&labelSelector=app%3Dweb&watch=true',
    ]);
    await assert.rejects(source.list({}, never()), /no more/);
  });

  test('A status other than 200 is an error with status, reason and advice, for lists and watches', async () => {
    await using server = await AnsweringServer.listen((_request, response) => {
      const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
      response.writeHead(410, { 'retry-after': '3' }).end(JSON.stringify(status));
    });
    const source = podsOf(server);
    const expected = { code: 'ERR_KUBELOOM_GONE', httpStatus: 410, reason: 'Expired', retryAfterSeconds: 3 };
    await assert.rejects(source.list({}, never()), expected);
    await assert.rejects(source.watch({}, never()), expected);
    await until(async () => (await server.connections()) === 0);
  });

  test('An unreachable server and an unusable kubeconfig are coded errors', async () => {
    const nobody = newListWatchFromClient<Pod>(kubeConfigFor('http://127.0.0.1:1'), PODS);
    await assert.rejects(nobody.list({}, never()), { code: 'ERR_KUBELOOM_UNREACHABLE' });
    await assert.rejects(nobody.watch({}, never()), { code: 'ERR_KUBELOOM_UNREACHABLE' });
    const empty = newListWatchFromClient<Pod>(new KubeConfig(), PODS);
    await assert.rejects(empty.list({}, never()), { code: 'ERR_KUBELOOM_KUBECONFIG' });
  });

  test('A response that is not a list, a truncated list and an item that is not JSON are errors, never an empty list', async () => {
    for (const [body, code] of [
      ['{"kind":"Status"}', 'ERR_KUBELOOM_MALFORMED_RESPONSE'],
      ['{"metadata":{},"items":[', 'ERR_KUBELOOM_TRUNCATED'],
      ['{"metadata":{},"items":[{"metadata":{}},{"metadata" 5}]}', 'ERR_KUBELOOM_MALFORMED_RESPONSE'],
    ] as const) {
      await using server = await AnsweringServer.listen((_request, response) => void response.end(body));
      await assert.rejects(podsOf(server).list({}, never()), { code });
    }
  });

  test('Aborted, a list and an open watch end with the reason, and the connection is closed', async () => {
    await using server = await AnsweringServer.listen((request, response) => {
      if (request.url?.includes('watch=true')) response.write(line('ADDED', pod('foo')));
    });
    const source = podsOf(server);
    const controller = new AbortController();
    const reason = new Error('enough');
    const watch = await source.watch({}, controller.signal);
    const events = watch[Symbol.asyncIterator]();
    assert.equal((await events.next()).done, false);
    const list = source.list({}, controller.signal);
    const pending = events.next();
    await until(() => server.requests.length === 2);
    controller.abort(reason);
    await assert.rejects(list, reason);
    await assert.rejects(pending, reason);
    await assert.rejects(source.list({}, controller.signal), reason);
    await assert.rejects(source.watch({}, controller.signal), reason);
    await until(async () => (await server.connections()) === 0);
    assert.equal(server.requests.length, 2);
  });

  test('A watch yields its events, ERROR events included, and ends when the server ends it', async () => {
    await using server = await AnsweringServer.listen((_request, response) => {
      response.write(line('ADDED', pod('foo', 1)) + line('MODIFIED', pod('foo', 2)).slice(0, 20));
      response.write(
        line('MODIFIED', pod('foo', 2)).slice(20) + line('ERROR', { kind: 'Status', code: 410 }),
      );
      response.end(line('DELETED', pod('foo', 3)).slice(0, 9));
    });
    const types: string[] = [];
    for await (const event of await podsOf(server).watch({}, never())) types.push(event.type);
    // A truncated line is no event.
    assert.deepEqual(types, ['ADDED', 'MODIFIED', 'ERROR']);
  });

  test('A watch that breaks throws after its last event, once', async () => {
    await using server = await AnsweringServer.listen((_request, response) => {
      response.write(line('ADDED', pod('foo', 1)), () => response.destroy());
    });
    const events = await eventsOf(server);
    assert.equal((await events.next()).done, false);
    await assert.rejects(events.next(), { code: 'ERR_KUBELOOM_CONNECTION_RESET' });
    assert.deepEqual(await events.next(), { done: true, value: undefined });
  });

  test('A line that is not an event ends the watch with an error, after the events before it', async () => {
    for (const bad of ['not json', '{"type":5,"object":{}}', '{"type":"ADDED","object":null}']) {
      await using server = await AnsweringServer.listen((_request, response) => {
        response.write(`${line('ADDED', pod('foo', 1))}${bad}\n${line('ADDED', pod('bar', 2))}`);
      });
      const events = await eventsOf(server);
      assert.equal((await events.next()).done, false);
      await assert.rejects(events.next(), { code: 'ERR_KUBELOOM_MALFORMED_EVENT' });
      await until(async () => (await server.connections()) === 0);
    }
  });

  test('stop ends an iteration in the middle, undelivered events are dropped, and no socket remains', async () => {
    await using server = await AnsweringServer.listen((_request, response) => {
      response.write(line('ADDED', pod('foo', 1)) + line('ADDED', pod('bar', 2)));
    });
    const source = podsOf(server);
    const stopped = await source.watch({}, never());
    const names: string[] = [];
    for await (const event of stopped) {
      if (event.type === 'ADDED') names.push(event.object.metadata.name);
      stopped.stop();
      stopped.stop();
    }
    assert.deepEqual(names, ['foo']);
    const broken = await source.watch({}, never());
    for await (const _event of broken) break;
    const waiting = await source.watch({}, never());
    const events = waiting[Symbol.asyncIterator]();
    await events.next();
    await events.next();
    const third = events.next();
    waiting.stop();
    assert.equal((await third).done, true);
    await until(async () => (await server.connections()) === 0);
  });

  test('C129 Without an iteration in progress the server is not read: it can send only until the buffers are full', async () => {
    const big = line('ADDED', { ...pod('foo'), filler: 'x'.repeat(1024 * 1024) });
    const total = 64;
    let sent = 0;
    await using server = await AnsweringServer.listen((_request, response) => {
      const more = (): void => {
        if (sent >= total) response.end();
        else response.write(big, () => (sent++, more()));
      };
      more();
    });
    const events = await eventsOf(server);
    await events.next();
    let before = -1;
    // Until the server makes no more progress during many turns of the loop.
    for (let quiet = 0; quiet < 2000; quiet++) {
      if (before !== sent) quiet = 0;
      before = sent;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(sent < total / 2, `${sent} of ${total} were taken`);
    let received = 1;
    while (!(await events.next()).done) received++;
    assert.equal(received, total);
  });

  test('ListWatch consists of two functions and passes its arguments on', async () => {
    const calls: unknown[] = [];
    const called = (...[options, signal]: readonly unknown[]): unknown =>
      calls.push(options, signal instanceof AbortSignal);
    const source = new ListWatch<Pod>({
      list: async (...of) => (called(...of), podList(1, [])),
      watch: (...of) => (called(...of), Promise.reject(new Error('no watch'))),
      isWatchListUnsupported: true,
      disableChunking: true,
    });
    await source.list({ limit: 1 });
    await assert.rejects(source.watch({ resourceVersion: '3' }), /no watch/);
    assert.deepEqual(calls, [{ limit: 1 }, true, { resourceVersion: '3' }, true]);
    assert.ok(source.isWatchListUnsupported && source.disableChunking);
    const plain = new ListWatch<Pod>({ list: source.list.bind(source), watch: source.watch.bind(source) });
    assert.deepEqual([plain.isWatchListUnsupported, plain.disableChunking], [false, false]);
  });

  test('A plain informer over HTTP follows an apiserver, through a restart of it, by list and by streaming list', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(server.kubeConfigYaml);
    const create = (name: string): Promise<unknown> => {
      const object = { metadata: { name, namespace: 'web' }, spec: { containers: [] } };
      return server.apply([{ type: 'create', resource: 'pods', object }]);
    };
    await create('first');
    const source = newListWatchFromClient<Pod>(kubeConfig, PODS, 'web');
    const handlers = [new RecordingHandler(), new RecordingHandler()] as const;
    const listing = new ListWatch<Pod>({
      list: (options, signal) => source.list(options, signal),
      watch: (options, signal) => source.watch(options, signal),
      isWatchListUnsupported: true,
    });
    const informers = [
      newInformer(source, { kind: 'Pod' }, 0, handlers[0]),
      newInformer(listing, { kind: 'Pod' }, 0, handlers[1]),
    ];
    const stop = new AbortController();
    const running = informers.map(({ controller }) => controller.run({ signal: stop.signal }));
    await until(() => informers.every(({ store }) => store.getByKey('web/first') !== undefined));
    await server.waitForWatches(2);
    await create('second');
    await until(() => informers.every(({ store }) => store.size === 2));
    await server.dropWatches({ how: 'close' });
    await create('third');
    await until(() => informers.every(({ store }) => store.size === 3));
    for (const { store } of informers) assert.equal(store.getByKey('web/third')?.kind, 'Pod');
    stop.abort();
    await Promise.all(running);
    await until(async () => (await server.watches()).length === 0);
  });

  test('C114 A credential plugin runs not for every request, but again when its token was rejected', async () => {
    await using folder = new TemporaryFolder();
    const runs = folder.file('runs');
    const script = folder.write(
      'plugin.cjs',
      `const fs = require('node:fs'), runs = ${JSON.stringify(runs)};
    fs.appendFileSync(runs, 'x');
    const status = { token: 'token-' + fs.readFileSync(runs).length };
    console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }));`,
    );
    let good = 'Bearer token-1';
    await using server = await AnsweringServer.listen((request, response) => {
      response.statusCode = request.headers.authorization === good ? 200 : 401;
      response.end(JSON.stringify(podList(1, [])));
    });
    const apiVersion = 'client.authentication.k8s.io/v1';
    const exec = { apiVersion, interactiveMode: 'Never', command: process.execPath, args: [script] };
    const kubeConfig = new KubeConfig();
    const cluster = server.kubeConfig.getCurrentCluster();
    assert.ok(cluster);
    kubeConfig.loadFromClusterAndUser(cluster, { name: 'plugin', exec });
    const source = newListWatchFromClient<Pod>(kubeConfig, PODS);
    await source.list({}, never());
    await source.list({}, never());
    assert.equal(readFileSync(runs, 'utf8'), 'x');
    good = 'Bearer token-2';
    await assert.rejects(source.list({}, never()), { code: 'ERR_KUBELOOM_UNAUTHORIZED' });
    await source.list({}, never());
    await source.list({}, never());
    assert.equal(readFileSync(runs, 'utf8'), 'xx');
  });
});
