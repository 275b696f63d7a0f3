/** The client of single objects against the embedded apiserver. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeClock, startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { ObjectClient } from '../../../src/controller/index.ts';
import { KubeloomError, SharedIndexInformer, resources } from '../../../src/index.ts';
import type { ResourceOf, WireOf } from '../../../src/index.ts';
import { Fence } from '../../../src/shared/fence.ts';
import { ScriptedServer } from '../../kit/scripted-server.ts';
import type { ScriptedRequest } from '../../kit/scripted-server.ts';

const { deployments } = resources.apps.v1;
const KEY = 'default/web';

const WEB: WireOf<'apps', 'v1', 'Deployment'> = {
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    },
  },
};

const clientOf = ({ connection }: EmbeddedApiServer): ObjectClient => new ObjectClient(connection);

describe('ObjectClient', () => {
  it('creates, reads, replaces, patches and deletes an object', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = clientOf(server);
    const created = await client.create(deployments, WEB);
    assert.equal(created.kind, 'Deployment');
    assert.deepEqual(await client.get(deployments, KEY), created);
    assert.deepEqual(await client.get(deployments, { namespace: 'default', name: 'web' }), created);
    const { spec } = created;
    assert.ok(spec);
    const updated = await client.update(deployments, { ...created, spec: { ...spec, replicas: 2 } });
    assert.equal(updated.spec?.replicas, 2);
    const labels = { team: 'a' };
    const patched = await client.patch(deployments, KEY, { metadata: { labels }, spec: { replicas: 3 } });
    assert.deepEqual([patched.metadata?.labels, patched.spec?.replicas], [labels, 3]);
    await client.delete(deployments, KEY);
    await assert.rejects(client.get(deployments, KEY), { code: 'ERR_KUBELOOM_NOT_FOUND' });
  });

  it('C470 stops late writes until a signal, with any other signal of a request, and demands no precondition', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const clock = new FakeClock();
    const over = new Error('over');
    const fence = new Fence(clock, clock.now() + 1000, () => over);
    const client = clientOf(server).until(fence.signal);
    await client.create(deployments, WEB);
    const { signal } = new AbortController();
    await client.patch(deployments, KEY, { spec: { replicas: 2 } }, { signal });
    clock.advance(1000);
    await assert.rejects(client.patch(deployments, KEY, { spec: { replicas: 3 } }, { signal }), over);
    assert.equal((await client.get(deployments, KEY)).spec?.replicas, 2);
  });

  it('C232 stops writes without a precondition, late ones, and those that a successor has overtaken, when it is fenced', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = clientOf(server);
    const lost = new AbortController();
    const fenced = client.fenced(lost.signal).observed(() => undefined);
    const { metadata = {}, spec } = await fenced.create(deployments, WEB);
    assert.ok(spec);
    const { resourceVersion = '', uid = '' } = metadata;
    const bare = { code: 'ERR_KUBELOOM_OPTION', message: /no precondition/ };
    await assert.rejects(fenced.update(deployments, WEB), bare);
    await assert.rejects(fenced.updateStatus(deployments, WEB), bare);
    await assert.rejects(fenced.patch(deployments, KEY, { spec: { replicas: 2 } }), bare);
    await assert.rejects(fenced.patchStatus(deployments, KEY, { status: {} }), bare);
    await assert.rejects(fenced.delete(deployments, KEY), bare);
    // The uid does not protect what a successor has changed.
    await assert.rejects(fenced.delete(deployments, KEY, { uid }), bare);
    // A server takes it for an unconditional update.
    const zero = { metadata: { ...metadata, resourceVersion: '0' } };
    await assert.rejects(fenced.update(deployments, { ...WEB, ...zero }), bare);
    await assert.rejects(fenced.patch(deployments, KEY, zero), bare);
    await assert.rejects(fenced.delete(deployments, KEY, { resourceVersion: '0' }), bare);
    await client.patch(deployments, KEY, { spec: { replicas: 3 } });
    const conflict = { code: 'ERR_KUBELOOM_CONFLICT' };
    const late = { metadata: { resourceVersion }, spec: { replicas: 2 } };
    await assert.rejects(fenced.patch(deployments, KEY, late), conflict);
    await assert.rejects(fenced.update(deployments, { metadata, spec }), conflict);
    await assert.rejects(fenced.delete(deployments, KEY, { resourceVersion }), conflict);
    lost.abort(new Error('the partition is lost'));
    await assert.rejects(fenced.delete(deployments, KEY, { uid }), /the partition is lost/);
    await assert.rejects(fenced.create(deployments, WEB), /the partition is lost/);
    const { spec: now } = await fenced.get(deployments, KEY);
    assert.equal(now?.replicas, 3);
  });

  it('writes the status apart from the rest', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = clientOf(server);
    const created = await client.create(deployments, WEB);
    const { spec } = created;
    assert.ok(spec);
    const status = { observedGeneration: 1, replicas: 1 };
    const nine = { ...created, spec: { ...spec, replicas: 9 }, status };
    const updated = await client.updateStatus(deployments, nine);
    assert.deepEqual([updated.spec?.replicas, updated.status?.replicas], [1, 1]);
    const patched = await client.patchStatus(deployments, KEY, { status: { replicas: 4 } });
    assert.deepEqual(patched.status, { ...status, replicas: 4 });
  });

  it('reports refusals of the server by codes: conflicts, names that are taken, preconditions', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none' });
    const client = clientOf(server);
    const created = await client.create(deployments, WEB);
    const { resourceVersion = '' } = created.metadata ?? {};
    await client.patch(deployments, KEY, { spec: { replicas: 2 } });
    await assert.rejects(client.create(deployments, WEB), { code: 'ERR_KUBELOOM_ALREADY_EXISTS' });
    const conflict = { code: 'ERR_KUBELOOM_CONFLICT', message: /read it again and repeat the change$/ };
    await assert.rejects(client.update(deployments, created), conflict);
    const stale = { metadata: { resourceVersion }, spec: { replicas: 4 } };
    await assert.rejects(client.patch(deployments, KEY, stale), conflict);
    await assert.rejects(client.delete(deployments, KEY, { resourceVersion }), conflict);
    await assert.rejects(client.delete(deployments, KEY, { uid: 'another' }), conflict);
    await client.delete(deployments, KEY, { uid: created.metadata?.uid ?? '', propagationPolicy: 'Orphan' });
  });

  it('refuses arguments that name no object, or another object, before any request', async () => {
    const client = new ObjectClient({ server: 'http://127.0.0.1:1' });
    const refused = { code: 'ERR_KUBELOOM_OPTION' };
    for (const key of ['web', 'default/', 'default/..', { namespace: '..', name: 'web' }, { name: 'web' }]) {
      await assert.rejects(client.get(deployments, key), refused, JSON.stringify(key));
    }
    await assert.rejects(client.get(deployments, 'a/b/c'), { code: 'ERR_KUBELOOM_KEY' });
    const { spec } = WEB;
    assert.ok(spec);
    await assert.rejects(client.create(deployments, { spec, metadata: { name: 'web' } }), refused);
    await assert.rejects(client.update(deployments, { spec, metadata: { namespace: 'default' } }), refused);
    await assert.rejects(client.get(deployments, KEY, { timeout: 1 } as object), refused);
    await assert.rejects(client.delete(deployments, KEY, { gracePeriodSeconds: -1 }), refused);
    assert.throws(() => new ObjectClient({} as never), refused);
  });

  it('C272 says what to pass in place of arguments that lead to no object, and sends nothing', async () => {
    await using cluster = await startEmbeddedApiServer({ isolation: 'none' });
    await clientOf(cluster).create(deployments, WEB);
    const options = { threads: { indexerThreads: 0 } };
    await using informer = new SharedIndexInformer(cluster.connection, deployments, options);
    void informer.run();
    await informer.waitForSync();
    const entry: unknown = informer.getStore().getByKey(KEY);
    await using server = await ScriptedServer.start((request) => request.answer(200, '{}'));
    const client = new ObjectClient({ server: server.url });
    type Call = (argument: never) => Promise<unknown>;
    const onResource: Call[] = [
      (resource) => client.get(resource, KEY),
      (resource) => client.create<object>(resource, WEB),
      (resource) => client.update<object>(resource, WEB),
      (resource) => client.patch(resource, KEY, { spec: {} }),
      (resource) => client.delete(resource, KEY),
    ];
    const onKey: Call[] = [
      (key) => client.get(deployments, key),
      (key) => client.patch(deployments, key, { spec: {} }),
      (key) => client.patchStatus(deployments, key, { status: {} }),
      (key) => client.delete(deployments, key),
    ];
    const onObject: Call[] = [
      (object) => client.create(deployments, object),
      (object) => client.update(deployments, object),
      (object) => client.updateStatus(deployments, object),
    ];
    const onPatch: Call[] = [
      (patch) => client.patch(deployments, KEY, patch),
      (patch) => client.patchStatus(deployments, KEY, patch),
    ];
    const patches = [{}, { spec: undefined }, entry, [{ op: 'add' }]];
    const nothing: unknown[] = [undefined, null, 7, true, [], 'x/y/z', Promise.resolve(WEB)];
    for (const [calls, values, advice] of [
      [
        onResource,
        [...nothing, {}, { resource: 'pods' }, 'deployments'],
        /such as resources\.core\.v1\.pods/,
      ],
      [onKey, [...nothing, {}, { name: 7 }, WEB], /pass 'namespace\/name'/],
      [onObject, nothing, /pass an object|needs metadata/],
      [onObject, [entry], /pass entry\.copy\(\)/],
      [onPatch, [...nothing, ...patches], /pass an? (?:merge patch|object)/],
    ] as const) {
      for (const [index, value] of values.entries()) {
        for (const call of calls) {
          await assert.rejects(call(value as never), (error: unknown) => {
            assert.ok(error instanceof KubeloomError, `${index}: ${String(error)}`);
            assert.match(error.code, /^ERR_KUBELOOM_(?:OPTION|KEY)$/);
            if (!(value instanceof Promise)) assert.match(error.message, advice);
            return true;
          });
        }
      }
    }
    assert.deepEqual(server.requests, []);
  });

  it('deletes from servers that answer 204, or with nothing', async () => {
    const empty = (request: ScriptedRequest, number: number) => request.answer(number === 0 ? 204 : 200, '');
    await using server = await ScriptedServer.start(empty);
    const client = new ObjectClient({ server: server.url });
    const answers: unknown[] = [];
    const observed = client.observed((_resource, answer) => answers.push(answer));
    await observed.delete(deployments, KEY);
    await observed.delete(deployments, KEY);
    assert.deepEqual(answers, [{}, {}]);
    await assert.rejects(client.get(deployments, KEY), { code: 'ERR_KUBELOOM_MALFORMED_RESPONSE' });
  });

  it('has the types of the resource', async () => {
    const kind = { group: 'example.com', version: 'v1', resource: 'foos', kind: 'Foo', isNamespaced: true };
    const foos: ResourceOf<{ readonly spec: { readonly replicas: number } }> = kind;
    const client = new ObjectClient({ server: 'http://127.0.0.1:1' });
    // @ts-expect-error the resource decides the type: replicas are a number
    await assert.rejects(client.create(foos, { spec: { replicas: '1' } }), { code: 'ERR_KUBELOOM_OPTION' });
    const read = async (): Promise<number> => (await client.get(foos, 'a/b')).spec.replicas;
    await assert.rejects(read(), { code: 'ERR_KUBELOOM_UNREACHABLE' });
  });
});
