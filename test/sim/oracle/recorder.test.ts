/** A run of the real pipeline against the embedded apiserver, recorded and judged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedIndexInformer, label } from '../../../src/index.ts';
import { settled, startEmbeddedApiServer } from '../../../src/tools/apiserver/testing/index.ts';
import { PODS, deletion, pod, put } from '../../kit/objects.ts';
import { kubeConfigOf } from '../../kit/scene.ts';
import type { Histories } from './histories.ts';
import { judge } from './judge.ts';
import { Recorder } from './recorder.ts';
import { recordServer } from './server-history.ts';

const INDICES = {
  app: (entry: { readonly labels: Readonly<Record<string, string>> }): string[] =>
    entry.labels['app'] === undefined ? [] : [entry.labels['app']],
};

/** Lists, changes, a relist that finds changes, and a handler that joins in between. */
async function recordedRun(): Promise<Histories> {
  await using server = await startEmbeddedApiServer({ tls: false });
  const recorder = new Recorder();
  await using informer = new SharedIndexInformer(kubeConfigOf(server), PODS, {
    threads: { indexerThreads: 0 },
    indexers: { app: label('app') },
    onError: recorder.report,
    backoff: { initialMs: 1, maxMs: 10 },
  });
  recorder.informer(informer, { indices: INDICES });
  recorder.handler(informer, 'first');
  const write = (name: string, app: string): Promise<unknown> => server.apply([put(pod(name, { app }))]);
  await write('a', 'x');
  void informer.run();
  await settled(informer);
  recorder.snapshot(informer);
  await write('a', 'y');
  await write('b', 'x');
  await settled(informer);
  recorder.handler(informer, 'late');
  await server.apply([deletion('b')]);
  await write('c', 'x');
  await server.compact();
  const fault = { id: '1', kind: 'expired watch', codes: ['ERR_KUBELOOM_GONE'], landedAt: recorder.now() };
  await server.expireWatches();
  await write('d', 'x');
  await settled(informer);
  recorder.histories.faults.push({ ...fault, healedAt: recorder.now() });
  recorder.look();
  recorder.snapshot(informer, true);
  await recordServer(recorder.histories, server, 'pods');
  return recorder.histories;
}

test('a recorded run of the pipeline against the embedded apiserver is complete and has no violations', async () => {
  const histories = await recordedRun();
  assert.deepEqual(judge(histories), []);
  const kinds = histories.delivered.map(({ handler, kind }) => `${handler} ${kind}`);
  for (const kind of ['first registered', 'first add', 'first synced', 'late synced', 'first delete']) {
    assert.ok(kinds.includes(kind), kind);
  }
  assert.equal(histories.commits.length, 6);
  assert.ok(histories.wire.filter(({ what }) => what === 'listed').length >= 2);
  const added = histories.delivered.find((record) => record.kind === 'add');
  assert.ok(
    added && 'hash' in added && added.hash === added.objectHash && added.isIndexed && added.uid !== '',
  );
});

test('the oracle finds a notification that is missing in the record', async () => {
  const histories = await recordedRun();
  const delivered = histories.delivered.filter(({ kind }) => kind !== 'update');
  assert.notDeepEqual(judge({ ...histories, delivered }), []);
});
