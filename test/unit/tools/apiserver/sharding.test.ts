/** Sharded LIST and WATCH of the embedded apiserver: the real server with the feature gate, in part, and without it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startEmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import type { ApiServerOptions, EmbeddedApiServer } from '../../../../src/tools/apiserver/testing/index.ts';
import { shardSelectorText, partitionRanges } from '../../../../src/kube/shard-selector.ts';
import { WIDGETS, pod, put } from '../../../kit/objects.ts';
import { call, watch } from './http.ts';

/** FNV-1a of `a` is in the upper half of all hashes, that of `pod-1` in the lower one. */
const UIDS = ['a', 'pod-1'];
const SELECTOR = shardSelectorText(partitionRanges([1], 2));
const PARTIAL = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

interface ListBody {
  readonly metadata: {
    readonly shardInfo?: { readonly selector?: string };
    readonly remainingItemCount?: number;
  };
  readonly items: readonly { readonly metadata: { readonly uid: string } }[];
}

async function started(sharding?: ApiServerOptions['sharding']): Promise<EmbeddedApiServer> {
  const options = { tls: false, token: '', resources: [WIDGETS], ...(sharding ? { sharding } : {}) };
  const server = await startEmbeddedApiServer(options);
  await server.apply(
    UIDS.map((uid) => put({ ...pod(uid), metadata: { name: uid, namespace: 'default', uid } })),
  );
  const metadata = { name: 'w', namespace: 'default', uid: 'a' };
  await server.apply([{ type: 'put', resource: 'widgets.example.com', object: { metadata } }]);
  return server;
}

async function listed(
  server: EmbeddedApiServer,
  query: string,
  path = '/api/v1/pods',
  accept = '',
): Promise<ListBody> {
  const response = await fetch(`${server.url}${path}?${query}`, accept === '' ? {} : { headers: { accept } });
  assert.equal(response.status, 200);
  return (await response.json()) as ListBody;
}

const uidsOf = ({ items }: ListBody): string[] => items.map(({ metadata }) => metadata.uid);
const selected = (selector = SELECTOR): string => `shardSelector=${encodeURIComponent(selector)}`;

describe('the embedded apiserver', () => {
  test('sends every object without the feature, whatever the selector', async () => {
    await using server = await started();
    for (const query of [selected(), selected('nonsense'), '']) {
      const list = await listed(server, query);
      assert.deepEqual(uidsOf(list), UIDS);
      assert.equal(list.metadata.shardInfo, undefined);
    }
  });

  for (const sharding of ['echoes', 'filters'] as const) {
    test(`sends and deletes only the objects of the shard when it ${sharding}`, async () => {
      await using server = await started(sharding);
      const list = await listed(server, selected());
      assert.deepEqual(uidsOf(list), ['a']);
      assert.equal(list.metadata.shardInfo?.selector, sharding === 'echoes' ? SELECTOR : undefined);
      assert.deepEqual(uidsOf(await listed(server, '')), UIDS);
      const lines = await watch(`${server.url}/api/v1/pods?watch=1&${selected()}`);
      await call(`${server.url}/api/v1/namespaces/default/pods?${selected()}`, 'DELETE');
      assert.deepEqual(uidsOf(await listed(server, '')), ['pod-1']);
      const events = await lines.count(3);
      const sent = events.map(({ type, object }) => [
        type,
        (object as { metadata: { uid: string } }).metadata.uid,
      ]);
      assert.deepEqual(sent, [
        ['ADDED', 'a'],
        ['MODIFIED', 'a'],
        ['DELETED', 'a'],
      ]);
    });
  }

  test('confirms the selector neither to lists of metadata nor of custom resources', async () => {
    await using server = await started('echoes');
    const widgets = await listed(server, selected(), '/apis/example.com/v1/widgets');
    const partial = await listed(server, selected(), '/api/v1/pods', PARTIAL);
    for (const list of [widgets, partial]) {
      assert.deepEqual(uidsOf(list), ['a']);
      assert.equal(list.metadata.shardInfo, undefined);
    }
  });

  test('refuses a malformed selector with a 400', async () => {
    await using server = await started('filters');
    const { status, body } = await call(`${server.url}/api/v1/pods?${selected('nonsense')}`);
    assert.equal(status, 400);
    assert.match(String(body['message']), /invalid shard selector: can't understand 'nonsense'/);
  });
});
