/** Finalizers and owner references on the embedded apiserver. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import {
  ObjectClient,
  addFinalizer,
  controllerReference,
  hasFinalizer,
  removeFinalizer,
} from '../../../../src/controller/index.ts';
import { resources } from '../../../../src/index.ts';

const { configMaps } = resources.core.v1;
const KEY = 'default/a';
const MINE = 'example.com/cleanup';

describe('finalizers', () => {
  it('keep a deleted object until the last one is removed', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none', tls: false });
    const client = new ObjectClient({ server: server.url, token: server.token });
    const created = await client.create(configMaps, { metadata: { name: 'a', namespace: 'default' } });
    assert.ok(!hasFinalizer(created, MINE));
    const other = await addFinalizer(client, configMaps, created, 'example.com/other');
    assert.ok(other);
    const mine = await addFinalizer(client, configMaps, other, MINE);
    assert.ok(mine && hasFinalizer(mine, MINE) && hasFinalizer(mine, 'example.com/other'));
    assert.equal(await addFinalizer(client, configMaps, mine, MINE), undefined);
    await client.delete(configMaps, KEY);
    const deleted = await client.get(configMaps, KEY);
    assert.ok(deleted.metadata?.deletionTimestamp);
    const one = await removeFinalizer(client, configMaps, deleted, 'example.com/other');
    assert.ok(one && hasFinalizer(one, MINE));
    await removeFinalizer(client, configMaps, one, MINE);
    await assert.rejects(client.get(configMaps, KEY), { code: 'ERR_KUBELOOM_NOT_FOUND' });
    assert.equal(await removeFinalizer(client, configMaps, one, MINE), undefined);
    assert.equal(await removeFinalizer(client, configMaps, created, MINE), undefined);
  });

  it('are not written over the change of another writer', async () => {
    await using server = await startEmbeddedApiServer({ isolation: 'none', tls: false });
    const client = new ObjectClient({ server: server.url, token: server.token });
    const created = await client.create(configMaps, { metadata: { name: 'a', namespace: 'default' } });
    await client.patch(configMaps, KEY, { metadata: { finalizers: ['example.com/other'] } });
    await assert.rejects(addFinalizer(client, configMaps, created, MINE), { code: 'ERR_KUBELOOM_CONFLICT' });
  });
});

describe('controllerReference', () => {
  it('names the owner as its controller', () => {
    const { deployments } = resources.apps.v1;
    const owner = { name: 'web', uid: 'u1' };
    const reference = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      controller: true,
      blockOwnerDeletion: true,
    };
    assert.deepEqual(controllerReference(deployments, owner), { ...reference, ...owner });
  });

  it('refuses an owner that the server has not stored', () => {
    const code = 'ERR_KUBELOOM_OPTION';
    assert.throws(() => controllerReference(configMaps, { name: 'a' }), {
      code,
      message: /: create it first/,
    });
    const object = { kind: 'ConfigMap', metadata: { name: 'a', uid: 'u' } };
    const misread = (): unknown => controllerReference(configMaps, object as object);
    assert.throws(misread, { code, message: /: pass object\.metadata$/ });
  });
});
