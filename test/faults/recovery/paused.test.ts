/** End of a thread while nothing is merged because handlers are too far behind: it is replaced after the pause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { SharedIndexInformer } from '../../../src/index.ts';
import { FakeClock, FakeControllerSource, settled } from '../../../src/tools/apiserver/testing/index.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { InProcessBackend } from '../../../src/informer/threads/in-process-backend.ts';
import type { Role } from '../../../src/informer/threads/backend.ts';
import { PODS, pods } from '../../kit/objects.ts';
import { RecordingHandler } from '../../kit/recording-handler.ts';
import { turns } from '../../kit/scene.ts';

const PODS_COUNT = 100;
const CHANGES = 5 * PODS_COUNT;
const HOUR_MS = 3_600_000;

for (const role of [0, 'reflector'] satisfies Role[]) {
  test(`C174 C180 ${role === 0 ? 'a shard' : 'the reflector'} that ends during a pause is replaced after it, and no change is lost or repeated`, async () => {
    const clock = new FakeClock();
    const source = new FakeControllerSource<V1Pod>();
    let backend: InProcessBackend | undefined;
    await using threads = new InformerThreads(
      { indexerThreads: 0, backlogBytesMax: 2 ** 16, backlogTimeoutMs: HOUR_MS },
      { clock, backend: (...args) => (backend = new InProcessBackend(...args)) },
    );
    const codes: unknown[] = [];
    await using informer = new SharedIndexInformer<V1Pod>(source, PODS, {
      threads,
      clock,
      onError: (error) => codes.push('code' in error ? error.code : error),
    });
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const slow = new RecordingHandler(({ type }) => (type === 'add' ? opened : undefined));
    const prompt = new RecordingHandler();
    informer.addEventHandler(slow);
    informer.addEventHandler(prompt);
    const all = pods(PODS_COUNT, {}, { padding: 'x'.repeat(2000) });
    for (const one of all) source.add(one);
    void informer.run();
    await informer.waitForSync();
    while (informer.phase !== 'watching') await turns(1);
    const modifyAll = (): void => {
      for (const one of all) source.modify(one);
    };
    modifyAll();
    while (!codes.includes('ERR_KUBELOOM_BACKLOG_PAUSED')) {
      clock.advance(500);
      await turns(1);
    }
    // In the rings, not merged yet.
    for (let round = 1; round < CHANGES / PODS_COUNT; round++) modifyAll();
    await turns();
    const before = prompt.calls.length;
    assert.ok(threads.unmerged > 0);
    backend?.kill(role);
    await turns(100);
    assert.equal(prompt.calls.length, before, 'nothing is merged during a pause');
    assert.ok(!codes.includes('ERR_KUBELOOM_THREAD_RESTARTED'), 'what it had finished is merged first');
    open();
    await settled(informer);
    const versions = Array.from({ length: CHANGES }, (_, index) => `${PODS_COUNT + 1 + index}`);
    assert.deepEqual(prompt.versions.slice(PODS_COUNT), versions);
    assert.equal(slow.versions.at(-1), versions.at(-1));
    assert.equal(codes.filter((code) => code === 'ERR_KUBELOOM_THREAD_RESTARTED').length, 1);
  });
}
