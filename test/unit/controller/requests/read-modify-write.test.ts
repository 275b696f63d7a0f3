/** Reads that lead to writes: integers beyond 2^53, createOrUpdate, retryOnConflict. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryOnConflict } from '../../../../src/controller/index.ts';
import type { CreatedOrUpdated } from '../../../../src/controller/index.ts';
import { KubeloomError, resources } from '../../../../src/index.ts';
import type { KubeObject, ResourceOf } from '../../../../src/index.ts';
import { FakeClock, startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { ObjectClient } from '../../../../src/controller/index.ts';
import { largeIntegersOf } from '../../../../src/controller/requests/exact-integers.ts';
import { RecordingServer, status } from './recording-server.ts';

interface Widget extends KubeObject {
  readonly spec?: { readonly nanos?: number; readonly list?: readonly number[]; readonly ratio?: number };
}

const kind = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' };
const widgets: ResourceOf<Widget> = { ...kind, isNamespaced: true };
const METADATA = { name: 'a', namespace: 'd' };
const KEY = 'd/a';
const NANOS = '1732546800123456789';

function storedWith(spec: string): string {
  return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"d","resourceVersion":"5"},"spec":${spec}}`;
}

describe('an integer beyond 2^53', () => {
  it('C389 that an update would change refuses the update, whichever way the object was copied, and advises a patch', async () => {
    const body = storedWith(`{"nanos":${NANOS},"ratio":1.5}`);
    await using server = await RecordingServer.start(() => ({ body }));
    const client = server.client({ fieldManager: 'test' });
    const object = await client.get(widgets, KEY);
    const refused = {
      code: 'ERR_KUBELOOM_INEXACT_INTEGER',
      message: /would change the integer 1732546800123456789 to 1732546800123456800: .* Send a patch/,
    };
    const labelled = { ...object, metadata: { ...object.metadata, labels: { a: 'b' } } };
    await assert.rejects(client.update(widgets, labelled), refused);
    await assert.rejects(client.updateStatus(widgets, structuredClone(labelled)), refused);
    const { spec = {} } = object;
    await assert.rejects(client.apply(widgets, { metadata: METADATA, spec }), refused);
    const label = ({ metadata }: Widget): unknown => Object.assign(metadata ?? {}, { labels: {} });
    await assert.rejects(client.createOrUpdate(widgets, KEY, label), refused);
    // Wherever the number went.
    const list = [1, spec.nanos ?? 0];
    await assert.rejects(client.update(widgets, { ...object, spec: { list } }), refused);
    const copied = { spec: { nanos: spec.nanos ?? 0 } };
    await assert.rejects(client.patch(widgets, KEY, copied), refused);
    await assert.rejects(client.patchStatus(widgets, KEY, copied), refused);
    const operation = { op: 'add', path: '/spec/copy', value: spec.nanos } as const;
    await assert.rejects(client.patch(widgets, KEY, [operation], { type: 'json' }), refused);
    assert.ok(server.requests.every(({ method }) => method === 'GET'));
    await client.patch(widgets, KEY, { metadata: { labels: { a: 'b' } } });
    assert.equal(server.last.method, 'PATCH');
  });

  it('C389 that the program sets, or that JavaScript writes unchanged, is written', async () => {
    const body = storedWith('{"nanos":9007199254740994,"ratio":1e300}');
    await using server = await RecordingServer.start(() => ({ body }));
    const client = server.client();
    const object = await client.get(widgets, KEY);
    await client.update(widgets, object);
    assert.equal(server.last.method, 'PUT');
    await client.update(widgets, { ...object, spec: { nanos: 2 ** 60 } });
    assert.deepEqual([server.last.method, server.requests.length], ['PUT', 5]);
    const spec = { nanos: Number.MAX_SAFE_INTEGER, ratio: Number('0.12345678901234567') };
    await client.update(widgets, { ...object, spec });
    assert.equal(server.requests.length, 6);
  });

  it('C389 is compared with the stored object only if it can be read: an object that does not exist is created', async () => {
    await using server = await RecordingServer.start(({ method }) =>
      method === 'GET' ? status(404, 'NotFound') : { body: '{}' },
    );
    const client = server.client({ fieldManager: 'test' });
    await client.apply(widgets, { metadata: METADATA, spec: { nanos: 2 ** 60 } });
    await using refusing = await RecordingServer.start(() => status(403, 'Forbidden'));
    const update = refusing.client().update(widgets, { metadata: METADATA, spec: { nanos: 2 ** 60 } });
    await assert.rejects(update, { code: 'ERR_KUBELOOM_FORBIDDEN' });
    assert.deepEqual(refusing.methods, ['GET']);
  });

  it('is found in any JSON: not within texts, nor as a fraction or with an exponent', () => {
    const json = `{"a":${NANOS},"b":"x ${NANOS} \\" ${NANOS}","c":[-${NANOS},0.${NANOS},1e18,9007199254740991,${NANOS}.5],"${NANOS}":1}`;
    assert.deepEqual([...largeIntegersOf(json)], [NANOS, `-${NANOS}`]);
    const text = JSON.stringify('"\\'.repeat(8_000_000));
    assert.deepEqual([...largeIntegersOf(`{"a":${text},"b":${NANOS}}`)], [NANOS], 'behind a long text');
  });
});

describe('createOrUpdate', () => {
  const { configMaps } = resources.core.v1;

  it('C390 creates a missing object, updates a difference, and sends no other write', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = new ObjectClient(server.connection);
    const written: string[] = [];
    const observed = client.observed((_resource, { metadata }) =>
      written.push(metadata?.resourceVersion ?? ''),
    );
    const ensure = (value: string): Promise<CreatedOrUpdated<unknown>> =>
      observed.createOrUpdate(configMaps, 'default/a', async (object) => {
        await Promise.resolve();
        object.data = { ...object.data, value };
      });
    assert.equal((await ensure('1')).result, 'created');
    assert.equal((await ensure('1')).result, 'unchanged');
    const { result, object } = await ensure('2');
    assert.equal(result, 'updated');
    assert.deepEqual(object, await client.get(configMaps, 'default/a'));
    assert.equal(written.length, 2);
  });

  it('C390 sends no write for a difference that JSON cannot contain, nor for an object of any depth', async () => {
    const levels = 9000;
    const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const stored = `{"metadata":{"name":"a","namespace":"d"},"spec":{"count":0,"at":"1970-01-01T00:00:00.000Z","deep":${deep}}}`;
    await using server = await RecordingServer.start(() => ({ body: stored }));
    const { result } = await server.client().createOrUpdate(widgets, KEY, (object) => {
      Object.assign(object.spec ?? {}, { count: -0, at: new Date(0), optional: undefined });
    });
    assert.equal(result, 'unchanged');
    const changed = await server.client().createOrUpdate(widgets, KEY, (object) => {
      Object.assign(object.spec ?? {}, { count: 1 });
    });
    assert.equal(changed.result, 'updated');
    assert.deepEqual(server.methods, ['GET', 'GET', 'PUT']);
  });

  it('C390 refuses a function that renames the object, and passes on errors of the function', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = new ObjectClient(server.connection);
    const renamed = client.createOrUpdate(configMaps, 'default/a', (object) => {
      object.metadata = { name: 'b', namespace: 'default' };
    });
    const message = /changed the name or namespace of configmaps default\/a/;
    await assert.rejects(renamed, { code: 'ERR_KUBELOOM_OPTION', message });
    const failing = client.createOrUpdate(configMaps, 'default/a', () => {
      throw new TypeError('mine');
    });
    await assert.rejects(failing, { name: 'TypeError', message: 'mine' });
    await assert.rejects(client.get(configMaps, 'default/a'), { code: 'ERR_KUBELOOM_NOT_FOUND' });
  });

  it('C390 loses to another writer with a conflict, which retryOnConflict repeats', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = new ObjectClient(server.connection);
    await client.create(configMaps, { metadata: { name: 'a', namespace: 'default' } });
    let calls = 0;
    const race = (): Promise<CreatedOrUpdated<unknown>> =>
      client.createOrUpdate(configMaps, 'default/a', async (object) => {
        calls++;
        if (calls <= 2) await client.patch(configMaps, 'default/a', { data: { other: String(calls) } });
        object.data = { ...object.data, mine: 'yes' };
      });
    await assert.rejects(race(), { code: 'ERR_KUBELOOM_CONFLICT' });
    assert.equal((await retryOnConflict(race)).result, 'updated');
    assert.deepEqual((await client.get(configMaps, 'default/a')).data, { other: '2', mine: 'yes' });
  });
});

describe('retryOnConflict', () => {
  const conflict = new KubeloomError('ERR_KUBELOOM_CONFLICT', 'changed');

  it('C390 gives up after five conflicts, and at once after every other error', async () => {
    const clock = new FakeClock();
    let calls = 0;
    const conflicting = (): never => {
      calls++;
      setImmediate(() => clock.advance(20));
      throw conflict;
    };
    await assert.rejects(retryOnConflict(conflicting, { clock }), conflict);
    assert.equal(calls, 5);
    const other = new KubeloomError('ERR_KUBELOOM_APPLY_CONFLICT', 'owned');
    calls = 0;
    const failing = (): never => {
      calls++;
      throw other;
    };
    await assert.rejects(retryOnConflict(failing), other);
    assert.equal(calls, 1);
    assert.equal(await retryOnConflict(() => 7), 7);
  });

  it('C390 ends with the signal, and refuses wrong arguments', async () => {
    const stop = new AbortController();
    const stopping = (): never => {
      stop.abort(new Error('stopped'));
      throw conflict;
    };
    const { signal } = stop;
    await assert.rejects(retryOnConflict(stopping, { signal, clock: new FakeClock() }), /stopped/);
    const refused = { code: 'ERR_KUBELOOM_OPTION' };
    const one = (): number => 1;
    const wrong = [{ attempts: 0 }, { attempts: 1.5 }, { signal: {} }, { clock: 1 }, { retries: 1 }, null];
    for (const options of wrong) await assert.rejects(retryOnConflict(one, options as never), refused);
    await assert.rejects(retryOnConflict(undefined as never), refused);
  });
});
