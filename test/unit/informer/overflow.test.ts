/** A handler that is removed because the budget of backlogs is exhausted: the waits for it reject. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InformerThreads, SharedIndexInformer, waitFor, waitForCacheSync } from '../../../src/index.ts';
import type { Borrowed } from '../../../src/index.ts';
import { FakeClock, FakeControllerSource } from '../../../src/tools/apiserver/testing/index.ts';
import { Gate, PODS, pod, turns } from './scene.ts';
import type { Pod } from './scene.ts';

const OVERFLOW = { code: 'ERR_KUBELOOM_HANDLER_OVERFLOW' };
const PADDING: string = 'x'.repeat(2000);

test('C181 waits for the initial list of a handler that is removed for its backlog reject, and other waits do not', async () => {
  const clock = new FakeClock();
  const source = new FakeControllerSource<Pod>();
  const limits = { backlogBytesMax: 2 ** 16, backlogTimeoutMs: 1000 };
  await using threads = new InformerThreads({ indexerThreads: 0, ...limits }, { clock });
  const codes: unknown[] = [];
  await using informer = new SharedIndexInformer<Pod>(source, PODS, {
    threads,
    clock,
    onError: (error) => codes.push('code' in error ? error.code : error),
  });
  using gate = new Gate();
  const stuck = informer.addEventHandler({ onAdd: () => gate.opened }, { name: 'stuck' });
  const told: string[] = [];
  const prompt = informer.addEventHandler({
    onUpdate: (_previous: Borrowed<Pod>, updated: Borrowed<Pod>) => told.push(updated.resourceVersion),
  });
  // Each once: what changes again and again would be merged.
  const pods = Array.from({ length: 100 }, (_, index) => ({ ...pod(`p${index}`), spec: { PADDING } }));
  for (const one of pods) source.add(one);
  void informer.run();
  await waitForCacheSync([informer]);
  const rejected = assert.rejects(informer.waitForSync({ registration: stuck }), OVERFLOW);
  const named = assert.rejects(waitFor('controller', {}, stuck.hasSyncedChecker), {
    code: 'ERR_KUBELOOM_NOT_SYNCED',
    message: /handler stuck: .*the handler was removed/,
  });
  for (const one of pods) source.modify(one);
  while (stuck.failure === undefined) {
    clock.advance(500);
    await turns(1);
  }
  await Promise.all([rejected, named]);
  await assert.rejects(informer.waitForSync({ registration: stuck }), OVERFLOW);
  await assert.rejects(waitFor('', {}, stuck.hasSyncedChecker), { cause: stuck.failure });
  await informer.waitForSync({ registration: prompt });
  await waitForCacheSync([informer]);
  assert.deepEqual(codes.at(-1), OVERFLOW.code);
  while (told.at(-1) !== '200') await turns(1);
  assert.equal(told.length, 100);
  gate.open();
});
