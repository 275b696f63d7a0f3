/** Objects of built-in kinds that the control API stores, and patches of lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaType } from '../../../../../src/tools/apiserver/fields/schema-types.ts';
import { startEmbeddedApiServer } from '../../../../../src/tools/apiserver/testing/index.ts';
import { strategicMerge } from '../../../../../src/tools/apiserver/write/strategic-merge.ts';
import { Client } from '../../../../semantics/client.ts';
import { ok } from '../../../../semantics/fixture.ts';

test('an event whose time is null, as Go writes an absent time, is stored by the control API', async () => {
  const server = await startEmbeddedApiServer({ isolation: 'none', tls: false, token: '' });
  const metadata = { name: 'e', namespace: 'default' };
  const object = { metadata, involvedObject: { namespace: 'default' }, eventTime: null };
  await server.apply([{ type: 'create', resource: 'events', object }]);
  const client = new Client({ url: server.url, token: '', ca: '' });
  ok(await client.get('/api/v1/namespaces/default/events/e'));
  const data = { a: [1, { b: null, c: [{ d: null, e: 1 }] }] };
  const definition = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' };
  await server.registerResource({ ...definition, namespaced: true, custom: true });
  const path = '/apis/example.com/v1/namespaces/default/widgets';
  ok(await client.post(path, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }));
  const patched = ok(await client.mergePatch(`${path}/w`, { data }));
  assert.deepEqual(patched.data, { a: [1, { c: [{ e: 1 }] }] }, 'a merge patch removes nulls in lists');
  await server.close();
});

test('a strategic merge finds items by their key, removes them and adds new items', () => {
  const type = schemaType({ $ref: 'core.v1.Container' });
  const env = [{ name: 'a', value: '1' }, { name: 'b', value: '2' }, { name: 'c' }];
  const patch = {
    env: [
      { name: 'b', $patch: 'delete' },
      { name: 'c', value: '3' },
      { name: 'd' },
      { name: 'd', value: '4' },
    ],
  };
  assert.deepEqual(strategicMerge({ env }, patch, type), {
    env: [
      { name: 'a', value: '1' },
      { name: 'c', value: '3' },
      { name: 'd', value: '4' },
    ],
  });
});

test('a field below a field that preserves unknown fields may have any name', () => {
  const text = { type: 'string' };
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const below = { ...open, properties: { deep: { type: 'object', properties: { known: text } } } };
  const type = schemaType({
    type: 'object',
    properties: { open: below, closed: { type: 'object', properties: {} } },
  });
  assert.notEqual(type.member('open')?.member('deep')?.member('other'), undefined);
  assert.equal(type.member('closed')?.member('other'), undefined);
});
