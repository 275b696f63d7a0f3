/** Resources that are registered at run time, and their differences: sorted keys, kind in list items. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { call } from './http.ts';
import { WIDGETS } from '../../../kit/objects.ts';

describe('a custom resource', () => {
  let server: EmbeddedApiServer;
  const url = (path: string): string => `${server.url}/apis/example.com/v1/namespaces/default/widgets${path}`;

  before(async () => {
    server = await startEmbeddedApiServer({ tls: false, token: '', resources: [WIDGETS] });
  });
  after(() => server.close());

  it('is written with sorted keys at every depth, and its list items carry kind and apiVersion', async () => {
    const object = {
      kind: 'Widget',
      apiVersion: 'example.com/v1',
      spec: { z: 1, a: { y: [{ q: 1, b: 2 }], x: 2 } },
      data: 1,
      metadata: { name: 'w', labels: { b: '1', a: '2' } },
    };
    await call(url(''), 'POST', object);
    const text = await (await fetch(url('/w'))).text();
    assert.match(
      text,
      /^\{"apiVersion":"example\.com\/v1","data":1,"kind":"Widget","metadata":\{"creationTimestamp":"[^"]+","generation":1,"labels":\{"a":"2","b":"1"\},"managedFields":\[\{"apiVersion".*?\}\],"name":"w","namespace":"default","resourceVersion":"\d+","uid":"[^"]+"\},"spec":\{"a":\{"x":2,"y":\[\{"b":2,"q":1\}\]\},"z":1\}\}\n$/,
    );
    const list = await (await fetch(url(''))).text();
    assert.match(list, /"items":\[\{"apiVersion":"example\.com\/v1","data":1,"kind":"Widget"/);
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const partial = await (await fetch(url('/w'), { headers: { accept } })).text();
    assert.match(
      partial,
      /^\{"kind":"PartialObjectMetadata","apiVersion":"meta\.k8s\.io\/v1","metadata":\{"creation/,
    );
    assert.match(partial, /"uid":"[^"]+"\}\}\n$/);
  });

  it('has no unconditional update and no strategic merge patch', async () => {
    const update = await call(url('/w'), 'PUT', {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: {},
    });
    assert.equal(update.status, 422);
    assert.match(
      String(update.body['message']),
      /metadata\.resourceVersion: Invalid value: .*: must be specified for an update$/,
    );
    const patch = await fetch(url('/w'), {
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: '{}',
    });
    assert.equal(patch.status, 415);
  });

  it('can be registered while the server runs, once', async () => {
    const gadgets = { ...WIDGETS, resource: 'gadgets', kind: 'Gadget', namespaced: false };
    assert.equal((await fetch(`${server.url}/apis/example.com/v1/gadgets`)).status, 404);
    await server.registerResource(gadgets);
    assert.equal((await call(`${server.url}/apis/example.com/v1/gadgets`)).status, 200);
    await assert.rejects(server.registerResource(gadgets), { code: 'ERR_KUBELOOM_OPTION' });
    await server.apply([
      { type: 'create', resource: 'gadgets.example.com', object: { metadata: { name: 'g' } } },
    ]);
    assert.deepEqual([...(await server.state('gadgets.example.com')).keys()], ['g']);
  });
});
