/** Threads that end when they should not, and threads that must end when they should. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transformModule } from '../../../../src/index.ts';
import type { KubeloomError } from '../../../../src/index.ts';
import { pod } from '../../../kit/objects.ts';
import { Scene } from '../../../kit/scene.ts';

const MODULE = new URL('./user-module.js', import.meta.url).href;

test('a thread that cannot be kept is reported with its cause, and run() rejects instead of hanging', async () => {
  await using scene = await Scene.start({ threads: { indexerThreads: 2, restartsMax: 0 } });
  const informer = scene.informer({ transform: transformModule(MODULE, 'endThread') });
  await scene.put(pod('a'));
  await assert.rejects(informer.run(), (error: KubeloomError) => {
    assert.equal(error.code, 'ERR_KUBELOOM_THREAD');
    assert.match(error.message, /^the shard \d thread ended: /);
    assert.ok(error.cause);
    return true;
  });
  assert.ok(informer.isStopped());
  assert.deepEqual(scene.codes(), ['ERR_KUBELOOM_THREAD']);
  await assert.rejects(scene.informer().run(), { code: 'ERR_KUBELOOM_THREAD' });
});

test('informers that share the default threads must have the same options', async () => {
  await using scene = await Scene.start({ threads: { indexerThreads: 0 } });
  const first = scene.informer({ threads: { indexerThreads: 0 } });
  assert.throws(() => scene.informer({ threads: { indexerThreads: 1 } }), {
    code: 'ERR_KUBELOOM_THREADS_CONFLICT',
  });
  await first[Symbol.asyncDispose]();
  const second = scene.informer({ threads: { indexerThreads: 1 } });
  await scene.synced(second);
});

test('an informer that runs after the others have ended starts the shared threads again', async () => {
  await using scene = await Scene.start({ threads: { indexerThreads: 0 } });
  const threads = { indexerThreads: 1 };
  const [first, later] = [scene.informer({ threads }), scene.informer({ threads })];
  const told: string[] = [];
  later.addEventHandler({ onAdd: ({ name }) => void told.push(name) });
  await scene.synced(first);
  await first.shutdown();
  await scene.put(pod('a'));
  await scene.synced(later);
  assert.deepEqual(told, ['a']);
});
