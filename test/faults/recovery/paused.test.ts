/** End of a thread while nothing is merged because handlers are too far behind: it is replaced after the pause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedIndexInformer } from '../../../src/index.ts';
import type { Borrowed } from '../../../src/index.ts';
import { FakeClock, FakeControllerSource, settled } from '../../../src/apiserver/testing/index.ts';
import { InformerThreads } from '../../../src/informer/threads/informer-threads.ts';
import { InProcessBackend } from '../../../src/informer/threads/in-process-backend.ts';
import type { Role } from '../../../src/informer/threads/backend.ts';
import { Gate, PODS, pod, turns } from '../../unit/informer/scene.ts';
import type { Pod } from '../../unit/informer/scene.ts';

const PODS_COUNT = 100;
const CHANGES = 5 * PODS_COUNT;
const PADDING: string = 'x'.repeat(2000);
const HOUR_MS = 3_600_000;

for (const role of [0, 'reflector'] satisfies Role[]) {
  test(`C174 C180 ${role === 0 ? 'a shard' : 'the reflector'} that ends during a pause is replaced after it, and no change is lost or repeated`, async () => {
    const clock = new FakeClock();
    const source = new FakeControllerSource<Pod>();
    let backend: InProcessBackend | undefined;
    await using threads = new InformerThreads(
      { shards: 0, backlogBytesMax: 2 ** 16, backlogTimeoutMs: HOUR_MS },
      { clock, backend: (...args) => (backend = new InProcessBackend(...args)) },
    );
    const codes: unknown[] = [];
    await using informer = new SharedIndexInformer<Pod>(source, PODS, {
      threads,
      clock,
      onError: (error) => codes.push('code' in error ? error.code : error),
    });
    const gate = new Gate();
    const received: { readonly slow: string[]; readonly prompt: string[] } = { slow: [], prompt: [] };
    informer.addEventHandler({
      onAdd: () => gate.opened,
      onUpdate: (_previous: Borrowed<Pod>, updated: Borrowed<Pod>) =>
        received.slow.push(updated.resourceVersion),
    });
    informer.addEventHandler({
      onUpdate: (_previous: Borrowed<Pod>, updated: Borrowed<Pod>) =>
        received.prompt.push(updated.resourceVersion),
    });
    const pods = Array.from({ length: PODS_COUNT }, (_, index) => ({
      ...pod(`p${index}`),
      spec: { PADDING },
    }));
    for (const one of pods) source.add(one);
    void informer.run();
    await informer.waitForSync();
    while (informer.phase !== 'watching') await turns(1);
    const modifyAll = (): void => {
      for (const one of pods) source.modify(one);
    };
    modifyAll();
    while (!codes.includes('ERR_KUBELOOM_BACKLOG_PAUSED')) {
      clock.advance(500);
      await turns(1);
    }
    // In the rings, not merged yet.
    for (let round = 1; round < CHANGES / PODS_COUNT; round++) modifyAll();
    await turns();
    const before = received.prompt.length;
    assert.ok(threads.unmerged > 0);
    backend?.kill(role);
    await turns(100);
    assert.equal(received.prompt.length, before, 'nothing is merged during a pause');
    assert.ok(!codes.includes('ERR_KUBELOOM_THREAD_RESTARTED'), 'what it had finished is merged first');
    gate.open();
    await settled(informer);
    const versions = Array.from({ length: CHANGES }, (_, index) => `${PODS_COUNT + 1 + index}`);
    assert.deepEqual(received.prompt, versions);
    assert.equal(received.slow.at(-1), versions.at(-1));
    assert.equal(codes.filter((code) => code === 'ERR_KUBELOOM_THREAD_RESTARTED').length, 1);
  });
}
