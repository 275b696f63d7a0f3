/** A mirror beside its origin: what it serves and what it refuses. What it answers to reads is in test/semantics. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Change } from '../../../src/apiserver/testing/index.ts';
import { resourcePath, resources, shardSelectorText, partitionRanges } from '../../../src/index.ts';
import type { MirrorOptions } from '../../../src/mirror/mirror.ts';
import { TemporaryFolder } from '../../kit/temporary-folder.ts';
import { Client } from '../../semantics/client.ts';
import type { Body } from '../../semantics/client.ts';
import { mirrorOf, received, startOrigin } from './scene.ts';

const { pods, configMaps } = resources.core.v1;

function firstError(): Pick<MirrorOptions, 'onError'> & { readonly reported: Promise<Error> } {
  let onError: MirrorOptions['onError'] = () => {};
  const reported = new Promise<Error>((resolve) => (onError = resolve));
  return { onError, reported };
}

describe('a mirror', () => {
  it('C240 refuses every write with 405 and the reason', async () => {
    await using origin = await startOrigin();
    await using mirror = mirrorOf(origin, [configMaps]);
    const client = new Client(await mirror.start());
    const path = '/api/v1/namespaces/default/configmaps';
    for (const [method, where] of [
      ['POST', path],
      ['PUT', `${path}/a`],
      ['PATCH', `${path}/a`],
      ['DELETE', `${path}/a`],
      ['DELETE', path],
    ] as const) {
      const { status, body } = await client.request(method, where, { body: {} });
      assert.equal(status, 405, `${method} ${where}`);
      assert.equal(body.reason, 'MethodNotAllowed');
      assert.match(body.message ?? '', /read-only mirror/);
    }
  });

  it('C240 answers 404 with the reason for resources and subresources that it does not serve', async () => {
    await using origin = await startOrigin();
    await using mirror = mirrorOf(origin, [pods]);
    const client = new Client(await mirror.start());
    const other = await client.get('/apis/apps/v1/deployments');
    assert.equal(other.status, 404);
    assert.equal(other.body.kind, 'Status');
    assert.equal(
      other.body.message,
      'the mirror does not serve deployments.apps, only pods; ask the cluster itself',
    );
    assert.equal((await client.get('/api/v1/namespaces/default/pods/web-0/status')).status, 404);
  });

  it('shows in discovery only what it serves, for reading', async () => {
    await using origin = await startOrigin();
    await using mirror = mirrorOf(origin, [pods, resources.apps.v1.deployments]);
    const client = new Client(await mirror.start());
    const { groups } = JSON.parse((await client.get('/apis')).text) as { groups: { name: string }[] };
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['apps'],
    );
    const core = JSON.parse((await client.get('/api/v1')).text) as {
      resources: { name: string; verbs: string[] }[];
    };
    assert.deepEqual(
      core.resources.map(({ name, verbs }) => [name, ...verbs]),
      [['pods', 'get', 'list', 'watch']],
    );
  });

  it('C241 sends the bytes and versions of its origin, of built-in and of custom resources', async () => {
    await using origin = await startOrigin();
    const widgets = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' };
    await origin.registerResource({ ...widgets, namespaced: true, custom: true });
    await origin.populate({ count: 3 });
    await origin.apply([
      {
        type: 'put',
        resource: 'widgets.example.com',
        object: {
          metadata: { name: 'w', labels: { b: '1', a: '2' } },
          spec: { z: [{ y: 'ü', x: 1.5 }], a: null },
        },
      } as Change,
    ]);
    const mirrored = [pods, { ...widgets, isNamespaced: true }];
    await using mirror = mirrorOf(origin, mirrored);
    const endpoint = await mirror.start();
    const client = new Client(endpoint);
    const source = new Client({ url: origin.url, token: origin.token, ca: '' });
    for (const ref of mirrored) {
      await received(endpoint, origin, ref);
      const path = resourcePath(ref);
      assert.equal((await client.get(path)).text, (await source.get(path)).text);
      const { items } = (await source.get(path)).body;
      const { namespace = '', name = '' } = items[0]?.metadata ?? {};
      const one = `${resourcePath(ref, namespace)}/${name}`;
      assert.equal((await client.get(one)).text, (await source.get(one)).text);
    }
  });

  it('selects shards itself, and confirms it', async () => {
    await using origin = await startOrigin();
    await origin.populate({ count: 8 });
    await using mirror = mirrorOf(origin, [pods]);
    const endpoint = await mirror.start();
    await received(endpoint, origin, pods);
    const selectors = [0, 1].map((partition) => shardSelectorText(partitionRanges([partition], 2)));
    const read = async (query: Readonly<Record<string, string>>): Promise<Body> =>
      (await new Client(endpoint).get(`/api/v1/pods?${new URLSearchParams(query).toString()}`)).body;
    const lists = await Promise.all(selectors.map((shardSelector) => read({ shardSelector })));
    assert.deepEqual(
      lists.map(({ metadata }) => metadata.shardInfo?.selector),
      selectors,
    );
    const namesOf = ({ items }: Body): string[] => items.map(({ metadata }) => metadata.name);
    assert.deepEqual(lists.flatMap(namesOf).sort(), namesOf(await read({})).sort());
  });

  it('requires its token on a port, and refuses to listen there without one', async () => {
    await using origin = await startOrigin();
    await using mirror = mirrorOf(origin, [pods]);
    const client = new Client(await mirror.start());
    assert.equal((await client.get('/api/v1/pods', { token: 'wrong' })).status, 401);
    assert.equal((await client.get('/api/v1/pods', { token: '' })).status, 403);
    const address = { port: 0, token: '' };
    assert.throws(() => mirrorOf(origin, [pods], { address }), { code: 'ERR_KUBELOOM_USAGE' });
  });

  it('makes a Unix socket that only its owner can open, and removes it at the end', async () => {
    await using origin = await startOrigin();
    await using folder = new TemporaryFolder();
    const socketPath = folder.file('mirror.sock');
    await using mirror = mirrorOf(origin, [pods], { address: { socketPath } });
    await mirror.start();
    assert.equal(statSync(socketPath).mode & 0o777, 0o600);
    await mirror.close();
    assert.throws(() => statSync(socketPath), { code: 'ENOENT' });
  });

  it('answers 429 with Retry-After until the first list has arrived', async () => {
    await using origin = await startOrigin();
    await origin.setFaults({
      rules: [{ faultId: 'slow', times: 'always', match: { resource: 'pods' }, action: { type: 'hold' } }],
    });
    await using mirror = mirrorOf(origin, [pods]);
    const endpoint = await mirror.start();
    const client = new Client(endpoint);
    const { status, headers, body } = await client.get('/api/v1/pods');
    assert.deepEqual([status, headers['retry-after'], body.reason], [429, '1', 'TooManyRequests']);
    await origin.healFaults();
    await received(endpoint, origin, pods);
    assert.equal((await client.get('/api/v1/pods')).status, 200);
  });

  it('refuses objects whose resourceVersion is no number, and reports why', async () => {
    await using origin = await startOrigin();
    await origin.setFaults({
      rules: [{ faultId: 'opaque', times: 'always', action: { type: 'versions', prefix: 'v', digits: 8 } }],
    });
    const { onError, reported } = firstError();
    await using mirror = mirrorOf(origin, [pods], { onError });
    await mirror.start();
    assert.match((await reported).message, /is not a number/);
  });
});
