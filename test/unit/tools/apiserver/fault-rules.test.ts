/** Faults by rules: each action has its effect on matching requests and streams, and is recorded. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type {
  Change,
  EmbeddedApiServer,
  ScenarioRule,
} from '../../../../src/tools/apiserver/testing/index.ts';
import { call, watch } from './http.ts';

function put(name: string, value = ''): Change {
  return { type: 'put', resource: 'configmaps', object: { metadata: { name }, data: { value } } as object };
}

describe('rules of faults', () => {
  let server: EmbeddedApiServer;
  const url = (query: string): string => `${server.url}/api/v1/namespaces/default/configmaps${query}`;
  let ends = 0;
  const set = (rule: Omit<ScenarioRule, 'faultId'>): Promise<void> =>
    server.setFaults({ seed: 1, rules: [{ faultId: 'f', ...rule }] });
  const untilLanded = async (action: string): Promise<void> => {
    while ((await server.landedFaults()).at(-1)?.action !== action);
  };

  before(async () => {
    server = await startEmbeddedApiServer({ tls: false, token: '' });
    await server.apply([put('a'), put('b'), put('c')]);
  });
  afterEach(async () => {
    await server.healFaults();
    await server.dropWatches({ how: 'close' });
  });
  after(() => server.close());

  it('spare requests before the nth, strike the given number of times, and record each strike', async () => {
    const before = (await server.landedFaults()).length;
    await set({ match: { verb: 'list', nth: 2 }, times: 2, action: { type: 'answer', status: 429 } });
    const statuses = [];
    for (let count = 0; count < 4; count++) statuses.push((await call(url(''))).status);
    assert.deepEqual(statuses, [200, 429, 429, 200]);
    const landed = (await server.landedFaults()).slice(before);
    const strikes = landed.map(({ faultId, action, evidence }) => [faultId, action, evidence['verb']]);
    assert.deepEqual(strikes, [
      ['f', 'answer', 'list'],
      ['f', 'answer', 'list'],
    ]);
  });

  it('answer the next requests with a status, its reason and Retry-After', async () => {
    await set({ times: 2, action: { type: 'answer', status: 429, retryAfterSeconds: 7 } });
    for (let count = 0; count < 2; count++) {
      const { status, body, headers } = await call(url(''));
      assert.deepEqual([status, headers.get('retry-after'), body['reason']], [429, '7', 'TooManyRequests']);
    }
    assert.equal((await call(url(''))).status, 200);
  });

  it('strike only the requests that match their method, a part of the path, and the verb', async () => {
    await set({
      match: { path: 'default/secrets', method: 'GET', verb: 'list' },
      action: { type: 'answer', status: 500 },
    });
    const secrets = `${server.url}/api/v1/namespaces/default/secrets`;
    assert.equal((await call(url(''))).status, 200);
    assert.equal((await call(secrets, 'POST', { metadata: { name: 'a' } })).status, 201);
    const lines = await watch(`${secrets}?watch=1&timeoutSeconds=1`);
    assert.equal(await lines.ended, 'complete');
    assert.equal((await call(secrets)).status, 500);
    assert.equal((await call(secrets)).status, 200);
  });

  it('strike requests for discovery as well, whose verb is neither list nor watch', async () => {
    await set({ match: { verb: 'list' }, action: { type: 'answer', status: 500 } });
    await set({ match: { verb: 'other' }, action: { type: 'answer', status: 503 } });
    assert.equal((await call(`${server.url}/apis`)).status, 503);
    assert.equal((await call(`${server.url}/apis`)).status, 200);
  });

  it('cut the connection, or never answer', async () => {
    await set({ action: { type: 'reset' } });
    await assert.rejects(call(url('')));
    await set({ action: { type: 'hang' } });
    const aborted = new AbortController();
    const pending = fetch(url(''), { signal: aborted.signal });
    await untilLanded('hang');
    assert.equal((await call(url(''))).status, 200, 'other requests are answered meanwhile');
    aborted.abort();
    await assert.rejects(pending, { name: 'AbortError' });
  });

  it('hold a request until they are healed', async () => {
    await set({ action: { type: 'hold' } });
    const held = call(url(''));
    // The next request can be faster on a connection that is open.
    await untilLanded('hold');
    assert.equal((await call(url(''))).status, 200, 'only one');
    await server.healFaults('f');
    assert.equal((await held).status, 200);
  });

  it('answer as a replica that is behind, for which the present revision is too new', async () => {
    const { revision } = await server.apply([put('d')]);
    await set({ times: 'always', action: { type: 'lag', revisions: 1 } });
    const { body } = await call(url('?resourceVersion=0'));
    assert.equal((body['metadata'] as { resourceVersion: string }).resourceVersion, String(revision - 1));
    assert.equal((body['items'] as unknown[]).length, 3);
    const lines = await watch(url(`?watch=1&resourceVersion=${revision - 1}`));
    await server.apply([put('e')]);
    await lines.count(1);
    assert.equal(lines.events.length, 1, 'the replica does not have the last one yet');
    await server.healFaults();
    await lines.count(2);
  });

  it('cut a line of an open watch, in the middle', async () => {
    const lines = await watch(url(`?watch=1&resourceVersion=${await server.revision()}`));
    await server.waitForWatches(1);
    await set({ match: { verb: 'watch', afterEvents: 1 }, action: { type: 'cut', how: 'reset', bytes: 30 } });
    await server.apply([put('a', '1'), put('a', '2')]);
    assert.equal(await lines.ended, 'broken');
    assert.equal(lines.events.length, 1);
    assert.equal(lines.unfinished.length, 30);
  });

  it('send events twice, old ones again, others out of order, under another type, or not at all', async () => {
    const seen = async (rule: Omit<ScenarioRule, 'faultId'>, ...changes: Change[]): Promise<string[]> => {
      const from = await server.revision();
      const lines = await watch(url(`?watch=1&resourceVersion=${from}`));
      await server.waitForWatches(1);
      await set(rule);
      await server.apply([...changes, put('end', String(++ends))]);
      while (lines.events.at(-1)?.object.metadata.name !== 'end') await lines.count(lines.events.length + 1);
      await server.healFaults();
      await server.dropWatches({ how: 'close' });
      await lines.ended;
      return lines.events
        .slice(0, -1)
        .map(
          ({ type, object: { metadata } }) =>
            `${type} ${metadata.name}@${Number(metadata.resourceVersion) - from}`,
        );
    };
    const a1 = put('a', '3');
    const b1 = put('b', '4');
    assert.deepEqual(await seen({ action: { type: 'duplicate' } }, a1), ['MODIFIED a@1', 'MODIFIED a@1']);
    assert.deepEqual(await seen({ action: { type: 'older' } }, put('a', '5'), put('a', '6')), [
      'MODIFIED a@1',
      'MODIFIED a@2',
      'MODIFIED a@1',
    ]);
    assert.deepEqual(await seen({ action: { type: 'swap' } }, put('a', '7'), b1), [
      'MODIFIED b@2',
      'MODIFIED a@1',
    ]);
    assert.deepEqual(
      await seen({ action: { type: 'retype', from: 'MODIFIED', to: 'ADDED' } }, put('a', '8'), put('a', '9')),
      ['ADDED a@1', 'MODIFIED a@2'],
    );
    assert.deepEqual(
      await seen({ action: { type: 'drop', of: 'MODIFIED' } }, put('a', '10'), put('a', '11')),
      ['MODIFIED a@2'],
    );
  });

  it('mute a stream until they are healed, and lose nothing', async () => {
    const lines = await watch(url(`?watch=1&resourceVersion=${await server.revision()}`));
    await server.waitForWatches(1);
    await set({ match: { verb: 'watch' }, action: { type: 'mute' } });
    await server.apply([put('a', '12'), put('b', '13')]);
    await call(url(''));
    assert.equal(lines.events.length, 0);
    await server.healFaults();
    await lines.count(2);
  });

  it('prefix and pad versions, and accept them in requests', async () => {
    await set({ times: 'always', action: { type: 'versions', prefix: 'v-', digits: 8 } });
    const { body } = await call(url(''));
    const { resourceVersion } = body['metadata'] as { resourceVersion: string };
    assert.match(resourceVersion, /^v-\d{8}$/);
    const lines = await watch(url(`?watch=1&resourceVersion=${resourceVersion}`));
    await server.apply([put('a', '14')]);
    const [event] = await lines.count(1);
    assert.match(event?.object.metadata.resourceVersion ?? '', /^v-\d{8}$/);
  });

  it("are set, read and healed through a separate port, only with the port's token", async () => {
    const { url: port, token } = await server.openFaultPort();
    assert.match(port, /^http:\/\/127\.0\.0\.1:/);
    assert.notEqual(new URL(port).port, String(server.port));
    const ask = async (method: string, bearer: string, body?: object): Promise<Response> =>
      fetch(`${port}/faults`, {
        method,
        headers: { authorization: `Bearer ${bearer}` },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    const rules = [{ faultId: 'far', times: 'always', action: { type: 'answer', status: 503 } }];
    assert.equal((await ask('PUT', 'wrong', { rules })).status, 401);
    assert.equal((await call(url(''))).status, 200);
    assert.equal((await ask('PUT', token, { rules })).status, 200);
    assert.equal((await call(url(''))).status, 503);
    assert.equal((await ask('DELETE', token)).status, 200);
    assert.equal((await call(url(''))).status, 200);
    const landed = (await (await ask('GET', token)).json()) as { faultId: string }[];
    assert.equal(landed.at(-1)?.faultId, 'far');
    assert.equal((await ask('POST', token)).status, 405);
  });
});
