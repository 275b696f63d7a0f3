/** Injected failures and the record of requests. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { call, watch } from './http.ts';

describe('injected failures', () => {
  let server: EmbeddedApiServer;
  const url = (path: string): string => `${server.url}/api/v1/${path}`;

  before(async () => {
    server = await startEmbeddedApiServer({ tls: false, token: '' });
  });
  beforeEach(async () => {
    await server.clearFaults();
    await server.clearRequests();
  });
  after(() => server.close());

  it('answer the next requests with a status, its reason and Retry-After, and then no more', async () => {
    await server.failNext({ status: 429, count: 2, retryAfterSeconds: 7, message: 'slow down' });
    for (let count = 0; count < 2; count++) {
      const { status, body, headers } = await call(url('pods'));
      assert.equal(status, 429);
      assert.equal(headers.get('retry-after'), '7');
      assert.equal(body['reason'], 'TooManyRequests');
      assert.equal(body['message'], 'slow down');
    }
    assert.equal((await call(url('pods'))).status, 200);
  });

  it('hit only matching requests', async () => {
    await server.failNext({ status: 500, match: { path: 'secrets', method: 'GET', watch: false } });
    assert.equal((await call(url('pods'))).status, 200);
    const lines = await watch(url('secrets?watch=1&timeoutSeconds=1'));
    assert.equal(await lines.ended, 'complete');
    assert.equal((await call(url('secrets'))).status, 500);
    assert.equal((await call(url('secrets'))).status, 200);
  });

  it('cut the connection, or never answer', async () => {
    await server.failNext({ status: 'reset' });
    await assert.rejects(call(url('pods')));
    await server.failNext({ status: 'hang', match: { path: 'pods' } });
    const aborted = new AbortController();
    const pending = fetch(url('pods'), { signal: aborted.signal });
    while ((await server.requests()).length < 2);
    assert.equal((await call(url('nodes'))).status, 200, 'other requests are answered meanwhile');
    aborted.abort();
    await assert.rejects(pending, { name: 'AbortError' });
  });

  it('leave a record of every request: method, path, query, whether it is a watch, and the listed revision', async () => {
    await call(url('pods?limit=5&resourceVersion=0'));
    await (
      await watch(url('pods?watch=true&timeoutSeconds=1'))
    ).ended;
    await call(url('namespaces/default/configmaps'), 'POST', { metadata: { name: 'recorded' } });
    const listedRevision = (await server.revision()) - 1;
    assert.deepEqual(await server.requests(), [
      {
        method: 'GET',
        path: '/api/v1/pods',
        query: { limit: '5', resourceVersion: '0' },
        watch: false,
        listedRevision,
      },
      { method: 'GET', path: '/api/v1/pods', query: { watch: 'true', timeoutSeconds: '1' }, watch: true },
      { method: 'POST', path: '/api/v1/namespaces/default/configmaps', query: {}, watch: false },
    ]);
  });
});
