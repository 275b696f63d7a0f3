/** A key that is twice in one list: no apiserver sends it, other sources may. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { newInformer } from '../../../src/client-go/index.ts';
import { InformerThreads, SharedIndexInformer } from '../../../src/index.ts';
import type { ListerWatcher } from '../../../src/index.ts';
import { FakeWatch } from '../../../src/tools/apiserver/testing/fake-controller-source.ts';

function twice(): ListerWatcher<V1Pod> {
  const items = ['3', '4'].map((resourceVersion) => ({ metadata: { name: 'a', uid: 'u', resourceVersion } }));
  return {
    isWatchListUnsupported: true,
    list: async () => ({ metadata: { resourceVersion: '10' }, items }),
    watch: async () => new FakeWatch<V1Pod>(0, () => undefined),
  };
}

test('an informer adds an object that is twice in its list once, in the state that came last', async () => {
  await using threads = new InformerThreads({ indexerThreads: 0 });
  const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true };
  const informer = new SharedIndexInformer<V1Pod>(twice(), pods, { threads });
  const seen: string[] = [];
  const registration = informer.addEventHandler({
    onAdd: ({ resourceVersion }) => seen.push(`add ${resourceVersion}`),
    onUpdate: (_, { resourceVersion }) => seen.push(`update ${resourceVersion}`),
  });
  const run = informer.run();
  await informer.waitForSync({ registration });
  assert.deepEqual(seen, ['add 4']);
  await informer.shutdown();
  await run;
});

test('an informer of the generic layer adds it and then updates it, as client-go does', async () => {
  const seen: string[] = [];
  const stop = new AbortController();
  const { controller } = newInformer<V1Pod>(twice(), undefined, 0, {
    onAdd: ({ metadata }) => void seen.push(`add ${metadata?.resourceVersion}`),
    onUpdate: (_, { metadata }) => void seen.push(`update ${metadata?.resourceVersion}`),
  });
  const run = controller.run({ signal: stop.signal });
  while (seen.length < 2) await new Promise(setImmediate);
  assert.deepEqual(seen, ['add 3', 'update 4']);
  stop.abort();
  await run;
});
