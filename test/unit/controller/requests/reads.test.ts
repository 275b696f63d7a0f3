/** Reads: repetitions, pages of lists, warnings of the server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { warningsOf } from '../../../../src/controller/requests/warning-header.ts';
import { resources } from '../../../../src/index.ts';
import { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import { processWarnings } from '../../../kit/warnings.ts';
import { RecordingServer, status } from './recording-server.ts';
import type { Answer } from './recording-server.ts';

const { configMaps } = resources.core.v1;
const KEY = 'default/a';
const STORED = { body: { kind: 'ConfigMap', metadata: { name: 'a' } } };

/** A refusal that says when to try again. */
const later = (code: number, seconds: string): Answer => ({
  ...status(code, 'Later'),
  headers: { 'retry-after': seconds },
});

/** Advances the clock whenever a timer waits, until the promise settles. */
async function settled<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  const settling = new AbortController();
  const over = (): void => settling.abort();
  promise.then(over, over);
  while (!settling.signal.aborted) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1000);
  }
  return promise;
}

describe('a read', () => {
  it('C386 is repeated after 429 and 503 with Retry-After, ten times at most, and after no other refusal', async () => {
    const clock = new FakeClock();
    const answers = [later(429, '3'), later(503, '0')];
    await using server = await RecordingServer.start((_request, number) => answers[number] ?? STORED);
    const began = clock.now();
    await settled(clock, server.client({ clock }).get(configMaps, KEY));
    assert.equal(server.requests.length, 3);
    assert.ok(clock.now() - began >= 3000);
    await using busy = await RecordingServer.start(() => later(429, '1'));
    const code = 'ERR_KUBELOOM_TOO_MANY_REQUESTS';
    await assert.rejects(settled(clock, busy.client({ clock }).get(configMaps, KEY)), { code });
    assert.equal(busy.requests.length, 11);
    for (const [answer, code] of [
      [status(503, 'ServiceUnavailable'), 'ERR_KUBELOOM_HTTP_STATUS'],
      [status(429, 'TooManyRequests'), 'ERR_KUBELOOM_TOO_MANY_REQUESTS'],
      [later(500, '1'), 'ERR_KUBELOOM_INTERNAL'],
      [status(404, 'NotFound'), 'ERR_KUBELOOM_NOT_FOUND'],
    ] as const) {
      await using refusing = await RecordingServer.start(() => answer);
      await assert.rejects(refusing.client({ clock }).get(configMaps, KEY), { code });
      assert.equal(refusing.requests.length, 1, code);
    }
  });

  it('C386 is repeated after a broken connection, three times at most, and a write is not', async () => {
    const clock = new FakeClock();
    await using server = await RecordingServer.start((_request, number) => (number === 1 ? STORED : {}));
    await settled(clock, server.client({ clock }).get(configMaps, KEY));
    assert.equal(server.requests.length, 2);
    await using broken = await RecordingServer.start(() => ({}));
    const client = broken.client({ clock });
    const reset = { code: 'ERR_KUBELOOM_CONNECTION_RESET' };
    await assert.rejects(settled(clock, client.get(configMaps, KEY)), reset);
    assert.equal(broken.requests.length, 4);
    const unconfirmed = { code: 'ERR_KUBELOOM_WRITE_UNCONFIRMED' };
    await assert.rejects(client.patch(configMaps, KEY, { data: { a: '1' } }), unconfirmed);
    assert.equal(broken.requests.length, 5);
  });

  it('C386 ends its wait with the signal', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    await using server = await RecordingServer.start(() => {
      setImmediate(() => stop.abort(new Error('stopped')));
      return later(429, '60');
    });
    await assert.rejects(server.client({ clock }).get(configMaps, KEY, { signal: stop.signal }), /stopped/);
    assert.equal(server.requests.length, 1);
  });
});

describe('a list', () => {
  const item = (name: string): object => ({ metadata: { name } });

  it('C387 iterates pages: parameters of the first and the next, complete objects, no request ahead of the reader', async () => {
    await using server = await RecordingServer.start(({ query }) => ({
      body: query['continue']
        ? { kind: 'ConfigMapList', metadata: { resourceVersion: '9' }, items: null }
        : {
            kind: 'ConfigMapList',
            metadata: { resourceVersion: '9', continue: 't1', remainingItemCount: 1 },
            items: [item('a'), item('b')],
          },
    }));
    const options = {
      namespace: 'shop',
      labelSelector: 'app=a',
      fieldSelector: 'metadata.name!=x',
      limit: 2,
      resourceVersion: '5',
      resourceVersionMatch: 'Exact',
    } as const;
    const pages = server.client().list(configMaps, options);
    assert.equal(server.requests.length, 0);
    const { value: first } = await pages.next();
    assert.ok(first);
    assert.deepEqual(first.items, [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } },
    ]);
    assert.deepEqual([first.metadata.resourceVersion, first.metadata.remainingItemCount], ['9', 1]);
    const { namespace: _namespace, limit, ...parameters } = options;
    assert.deepEqual(server.last.query, { ...parameters, limit: String(limit) });
    assert.equal(server.last.path, '/api/v1/namespaces/shop/configmaps');
    assert.equal(server.requests.length, 1);
    const rest = [];
    for await (const page of pages) rest.push(page);
    assert.deepEqual([rest.length, rest[0]?.items], [1, []]);
    const { labelSelector, fieldSelector } = options;
    assert.deepEqual(server.last.query, { labelSelector, fieldSelector, limit: '2', continue: 't1' });
  });

  it('C387 throws when the snapshot has expired, or continues in a newer state when that is allowed', async () => {
    const expired = status(410, 'Expired', { metadata: { continue: 'fresh' } });
    await using server = await RecordingServer.start(({ query }) => {
      if (query['continue'] === 't1') return expired;
      const metadata = query['continue']
        ? { resourceVersion: '20' }
        : { resourceVersion: '9', continue: 't1' };
      return { body: { metadata, items: [item(query['continue'] ?? 'first')] } };
    });
    const namesOf = async (allowInconsistent: boolean): Promise<unknown[]> => {
      const names: unknown[] = [];
      for await (const { items } of server.client().list(configMaps, { allowInconsistent })) {
        names.push(...items.map(({ metadata }) => metadata?.name));
      }
      return names;
    };
    const message = /the list has expired: begin it again/;
    await assert.rejects(namesOf(false), { code: 'ERR_KUBELOOM_GONE', message });
    assert.deepEqual(await namesOf(true), ['first', 'fresh']);
  });

  it('C387 ends with a code when the answer is not a list, or repeats a page', async () => {
    for (const body of [
      '7',
      '{}',
      '{"metadata":{},"items":{}}',
      '{"metadata":{"continue":"t"},"items":[]}',
      '{"kind":"Status","metadata":{},"status":"Failure"}',
      '{"metadata":{},"items":[null]}',
      '{"metadata":{},"items":["text"]}',
      '{"metadata":{},"items":[[]]}',
    ]) {
      await using server = await RecordingServer.start(() => ({ body }));
      await assert.rejects(
        async () => {
          for await (const _page of server.client().list(configMaps)) assert.ok(server.requests.length < 3);
        },
        { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' },
      );
    }
  });

  it('C387 is empty when the server leaves out the items', async () => {
    for (const body of ['{"kind":"ConfigMapList","metadata":{"resourceVersion":"5"}}', '{"items":null}']) {
      await using server = await RecordingServer.start(() => ({ body }));
      const { value: page } = await server.client().list(configMaps).next();
      assert.deepEqual(page?.items, [], body);
    }
  });

  it('ends between two pages with the signal', async () => {
    const stop = new AbortController();
    await using server = await RecordingServer.start((_request, number) => ({
      body: { metadata: { continue: `t${number}` }, items: [] },
    }));
    await assert.rejects(async () => {
      for await (const _page of server.client().list(configMaps, { signal: stop.signal }))
        stop.abort(new Error('enough'));
    }, /enough/);
    assert.equal(server.requests.length, 1);
  });
});

describe('warnings of the server', () => {
  it('C388 reach onWarning with the request, several in one header and in several', async () => {
    const headers = {
      warning: [
        '299 - "one, \\"quoted\\"", 299 kube "two"',
        '199 - "other", 299 - "three" "Wed, 21 Oct 2026 07:28:00 GMT"',
      ],
    };
    await using server = await RecordingServer.start(() => ({ ...STORED, headers }));
    const received: unknown[] = [];
    const client = server.client({ onWarning: (text, request) => received.push([text, request]) });
    await client.get(configMaps, KEY);
    const request = 'GET /api/v1/namespaces/default/configmaps/a';
    assert.deepEqual(received, [
      ['one, "quoted"', request],
      ['two', request],
      ['three', request],
    ]);
    await client.observed(() => undefined).patch(configMaps, KEY, { data: {} });
    assert.equal(received.length, 6);
  });

  it('C388 are process warnings without a listener, each text once; a listener that throws changes no answer', async (t) => {
    await using server = await RecordingServer.start(() => ({
      ...STORED,
      headers: { warning: Buffer.from('299 - "old\u202e version"').toString('latin1') },
    }));
    const emitted = processWarnings(t);
    const client = server.client();
    await client.get(configMaps, KEY);
    await client.get(configMaps, KEY);
    const message = 'GET /api/v1/namespaces/default/configmaps/a: the server warns: old\\u202e version';
    assert.deepEqual([emitted.length, emitted[0]?.code], [1, 'ERR_KUBELOOM_SERVER_WARNING']);
    assert.equal(emitted[0]?.message, message);
    const onWarning = (): never => {
      throw new Error('mine');
    };
    const failing = server.client({ onWarning });
    assert.equal((await failing.get(configMaps, KEY)).kind, 'ConfigMap');
    const { code, message: threw } = emitted[1] ?? {};
    assert.deepEqual([code, threw], ['ERR_KUBELOOM_ERROR_LISTENER', 'onWarning threw: mine']);
  });

  it('C388 are read from any header: a part that is not a warning is skipped', () => {
    for (const [header, texts] of [
      ['', []],
      ['299 - "a"', ['a']],
      ['299 - ""', []],
      ['garbage, 299 - "a"', ['a']],
      ['299 "a"', []],
      ['299 - "a', []],
      ['299 - "a\\\\", 299 - "b"', ['a\\', 'b']],
      ['299 - "a" "date", 299 - "b"', ['a', 'b']],
      ['299 - "a","b", 299 - "c"', ['a', 'c']],
      [Buffer.from('299 - "größer"').toString('latin1'), ['größer']],
    ] as const) {
      assert.deepEqual(warningsOf(header), texts, header);
    }
    // Quotes and commas without an end cost linear time.
    assert.deepEqual(warningsOf('299 - ",'.repeat(2000)).length >= 0, true);
  });
});
