/** The control API, through a thread: abilities of tests that HTTP does not have. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { Change, EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { Client } from '../../../semantics/client.ts';
import { call, watch } from './http.ts';

function configMap(name: string, data: Record<string, string> = {}): Change & { type: 'put' } {
  return {
    type: 'put',
    resource: 'configmaps',
    object: { metadata: { name }, data } as { metadata: { name: string } },
  };
}

describe('the control API', () => {
  let server: EmbeddedApiServer;
  const url = (path: string): string => `${server.url}/api/v1/namespaces/default/configmaps${path}`;

  before(async () => {
    server = await startEmbeddedApiServer({ tls: false, token: '' });
  });
  after(() => server.close());

  it('applies changes in order, each with the next revision, and HTTP shows them', async () => {
    const start = await server.revision();
    const { revision, resourceVersions } = await server.apply([
      { ...configMap('a'), type: 'create' },
      { ...configMap('a', { x: '1' }), type: 'update' },
      configMap('b'),
      { type: 'delete', resource: 'configmaps', name: 'a' },
    ]);
    assert.equal(revision, start + 4);
    const next = [1, 2, 3, 4].map((step) => String(start + step));
    assert.deepEqual(resourceVersions, next);
    const { status, body } = await call(url('/b'));
    assert.equal(status, 200);
    assert.equal((body['metadata'] as { resourceVersion: string }).resourceVersion, String(start + 3));
    assert.equal((await call(url('/a'))).status, 404);
  });

  it('applies integers that JavaScript numbers cannot hold as bigint, exactly', async () => {
    const spec = { long: 9_007_199_254_740_993n, longer: 2n ** 64n, short: 7n };
    await server.apply([
      { type: 'put', resource: 'configmaps', object: { metadata: { name: 'long' }, spec } },
    ]);
    const client = new Client({ url: url('/long'), token: '', ca: '' });
    const { text } = await client.get('');
    assert.match(text, /"spec":\{"long":9007199254740993,"longer":18446744073709552000,"short":7\}/);
  });

  it('rejects an invalid change with the message of the server and a code, and keeps the changes before it', async () => {
    const twice = [configMap('kept'), { ...configMap('kept'), type: 'create' as const }];
    await assert.rejects(server.apply(twice), {
      code: 'ERR_KUBELOOM_REJECTED',
      message: 'configmaps "kept" already exists',
    });
    assert.equal((await call(url('/kept'))).status, 200);
    await assert.rejects(server.apply([{ type: 'delete', resource: 'widgets', name: 'x' }]), {
      code: 'ERR_KUBELOOM_UNKNOWN_RESOURCE',
    });
  });

  it('gives an object a time in the place of a null, and no managers until a configuration is applied', async () => {
    const object = { metadata: { name: 'null-time', creationTimestamp: null } };
    await server.apply([{ type: 'create', resource: 'configmaps', object }]);
    const { metadata } = (await call(url('/null-time'))).body as { metadata: Record<string, unknown> };
    assert.match(String(metadata['creationTimestamp']), /^20\d\d-/);
    assert.equal(metadata['managedFields'], undefined);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'null-time' }, data: { a: '1' } };
    const applied = await fetch(url('/null-time?fieldManager=test'), {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify(body),
    });
    assert.equal(applied.status, 200);
    await server.apply([configMap('null-time', { a: '2' })]);
    const changed = (await call(url('/null-time'))).body['metadata'] as {
      managedFields: { manager: string }[];
    };
    const managers = changed.managedFields.map(({ manager }) => manager);
    assert.deepEqual(managers, ['kubeloom-testing']);
  });

  it('creates the namespace of an object, so that HTTP requests can use it', async () => {
    const object = { metadata: { name: 'p', namespace: 'fresh' } };
    await server.apply([{ type: 'create', resource: 'pods', object }]);
    const path = `${server.url}/api/v1/namespaces/fresh/pods`;
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    assert.equal((await call(path, 'POST', { metadata: { name: 'q' }, spec })).status, 201);
  });

  it('stores an object without its defaults, which clients can still change', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await server.apply([{ type: 'create', resource: 'pods', object: { metadata: { name: 'bare' }, spec } }]);
    const path = `${server.url}/api/v1/namespaces/default/pods/bare`;
    const { body } = await call(path);
    assert.deepEqual(body['spec'], spec);
    const labelled = { ...body, metadata: { ...Object(body['metadata']), labels: { a: 'b' } } };
    assert.equal((await call(path, 'PUT', labelled)).status, 200);
  });

  it('keeps every event in its log, and the current objects in its state', async () => {
    const start = await server.revision();
    await server.apply([configMap('logged'), configMap('logged', { x: '1' })]);
    await server.compact();
    await server.apply([{ type: 'delete', resource: 'configmaps', name: 'logged' }]);
    const log = await server.log('configmaps', start);
    assert.deepEqual(log.toArray(), [
      [start + 1, 'ADDED', 'default/logged'],
      [start + 2, 'MODIFIED', 'default/logged'],
      [start + 3, 'DELETED', 'default/logged'],
    ]);
    assert.equal(log.length, 3);
    const state = await server.state('configmaps');
    assert.equal(state.has('default/logged'), false);
    assert.equal(state.has('default/b'), true);
  });

  it('breaks watches with an ordinary end, with a reset, and with a reset in the middle of a line', async () => {
    for (const how of ['close', 'reset', 'resetMidLine'] as const) {
      const from = await server.revision();
      const lines = await watch(url(`?watch=1&resourceVersion=${from}`));
      await server.waitForWatches(1);
      await server.apply([configMap('b', { how })]);
      await lines.count(1);
      assert.equal(await server.dropWatches({ how }), 1);
      assert.equal(await lines.ended, how === 'close' ? 'complete' : 'broken');
      assert.equal(lines.unfinished !== '', how === 'resetMidLine');
      assert.deepEqual(await server.watches(), []);
    }
  });

  it('sends every watch an error that its revision is too old', async () => {
    const lines = await watch(url(`?watch=1&resourceVersion=${await server.revision()}`));
    await server.waitForWatches(1);
    await server.expireWatches();
    const [event] = await lines.count(1);
    assert.equal(event?.type, 'ERROR');
    assert.equal((event?.object as unknown as { code?: number } | undefined)?.code, 410);
    assert.equal(await lines.ended, 'complete');
  });

  it('sends bookmarks on request, to the watches that allow them', async () => {
    const from = await server.revision();
    const marked = await watch(url(`?watch=1&resourceVersion=${from}&allowWatchBookmarks=true`));
    const plain = await watch(url(`?watch=1&resourceVersion=${from}`));
    await server.waitForWatches(2);
    await server.sendBookmarks();
    const [bookmark] = await marked.count(1);
    assert.equal(bookmark?.type, 'BOOKMARK');
    assert.equal(bookmark?.object.metadata.resourceVersion, String(from));
    await server.dropWatches({ how: 'close' });
    await plain.ended;
    assert.deepEqual(plain.events, []);
  });

  it('sends no bookmark to a watch of the future until its revision is reached', async () => {
    const from = (await server.revision()) + 1;
    const future = await watch(url(`?watch=1&resourceVersion=${from}&allowWatchBookmarks=true`));
    await server.waitForWatches(1);
    await server.sendBookmarks();
    await server.apply([configMap('seen')]);
    await server.sendBookmarks();
    const [bookmark] = await future.count(1);
    assert.equal(bookmark?.object.metadata.resourceVersion, String(from));
    await server.dropWatches({ how: 'close' });
    await future.ended;
    assert.equal(future.events.length, 1);
  });

  it('restarts on the same port with the same data, cutting every connection', async () => {
    await server.apply([configMap('survivor')]);
    const revision = await server.revision();
    const lines = await watch(url(`?watch=1&resourceVersion=${revision}`));
    await server.waitForWatches(1);
    await server.restart({ downMs: 5 });
    assert.equal(await lines.ended, 'broken');
    assert.equal((await call(url('/survivor'))).status, 200);
    assert.equal(await server.revision(), revision);
    const again = await watch(url(`?watch=1&resourceVersion=${revision}`));
    await server.apply([configMap('survivor', { after: 'restart' })]);
    await again.count(1);
    await server.dropWatches({ how: 'close' });
  });

  it('records every request: method, path, query, whether it is a watch, and the listed revision', async () => {
    await server.clearRequests();
    await call(url('?limit=5&resourceVersion=0'));
    const lines = await watch(url('?watch=true&timeoutSeconds=1'));
    assert.equal(await lines.ended, 'complete');
    await call(url(''), 'POST', { metadata: { name: 'recorded' } });
    const listedRevision = (await server.revision()) - 1;
    const path = '/api/v1/namespaces/default/configmaps';
    assert.deepEqual(await server.requests(), [
      { method: 'GET', path, query: { limit: '5', resourceVersion: '0' }, watch: false, listedRevision },
      { method: 'GET', path, query: { watch: 'true', timeoutSeconds: '1' }, watch: true },
      { method: 'POST', path, query: {}, watch: false },
    ]);
  });

  it('refuses connections while it is down', async () => {
    // A stall of this thread may miss the time in which the server is down: it restarts until a call was refused.
    const refusals: unknown[] = [];
    while (refusals.length === 0) {
      const restarting = new AbortController();
      const restarted = server.restart({ downMs: 50 }).finally(() => restarting.abort());
      while (!restarting.signal.aborted)
        await call(url('/survivor')).catch((error: unknown) => refusals.push(error));
      await restarted;
    }
    assert.equal((await call(url('/survivor'))).status, 200);
  });
});
