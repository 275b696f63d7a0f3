/** A handler that is removed because the budget of backlogs is exhausted: the waits for it reject. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor, waitForCacheSync } from '../../../src/index.ts';
import type { Borrowed } from '../../../src/index.ts';
import { SMALL_BACKLOGS, Scene, paddedPods, turns } from './scene.ts';
import type { Pod } from './scene.ts';

const OVERFLOW = { code: 'ERR_KUBELOOM_HANDLER_OVERFLOW' };

test('C181 waits for the initial list of a handler that is removed for its backlog reject, and other waits do not', async () => {
  await using scene = new Scene(SMALL_BACKLOGS);
  const informer = scene.informer();
  const gate = scene.gate();
  const stuck = informer.addEventHandler({ onAdd: () => gate.opened }, { name: 'stuck' });
  const told: string[] = [];
  const prompt = informer.addEventHandler({
    onUpdate: (_previous: Borrowed<Pod>, updated: Borrowed<Pod>) => told.push(updated.resourceVersion),
  });
  // Each once: what changes again and again would be merged.
  const pods = paddedPods(100);
  for (const one of pods) scene.source.add(one);
  void informer.run();
  await waitForCacheSync([informer]);
  const rejected = assert.rejects(informer.waitForSync({ registration: stuck }), OVERFLOW);
  const named = assert.rejects(waitFor('controller', {}, stuck.hasSyncedChecker), {
    code: 'ERR_KUBELOOM_NOT_SYNCED',
    message: /handler stuck: .*the handler was removed/,
  });
  for (const one of pods) scene.source.modify(one);
  await scene.passed(() => stuck.failure !== undefined);
  await Promise.all([rejected, named]);
  await assert.rejects(informer.waitForSync({ registration: stuck }), OVERFLOW);
  await assert.rejects(waitFor('', {}, stuck.hasSyncedChecker), { cause: stuck.failure });
  await informer.waitForSync({ registration: prompt });
  await waitForCacheSync([informer]);
  assert.equal(scene.codes.at(-1), OVERFLOW.code);
  while (told.at(-1) !== '200') await turns(1);
  assert.equal(told.length, 100);
  gate.open();
});
