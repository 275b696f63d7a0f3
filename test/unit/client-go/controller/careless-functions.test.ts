/** Tests of errors in users' functions: they are reported, and end neither the reflector nor the process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processWarnings } from '../../../kit/warnings.ts';
import { ReflectorScene, settle } from './scene.ts';
import { podList } from './scripted-lister-watcher.ts';
import type { ScriptedWatch } from './scripted-lister-watcher.ts';

async function* endless(): AsyncGenerator<never> {
  await new Promise(() => undefined);
}

/** Returns a scene whose first watch is this object, as plain JavaScript may return it. */
function watchingThis(watch: object): ReflectorScene {
  const scene = new ReflectorScene();
  scene.source.listAnswers.push(podList(1, []));
  scene.source.watchAnswers.push(watch as ScriptedWatch);
  return scene;
}

test('A value that is not a watch, or a watch without stop(), is a failed request: reported and retried', async () => {
  for (const wrong of [{}, endless(), { stop: () => undefined }]) {
    const scene = await watchingThis(wrong).run();
    assert.deepEqual(scene.errors, ['watch ERR_KUBELOOM_LISTER_WATCHER']);
    assert.equal(scene.ending, undefined);
    scene.source.listAnswers.push(podList(1, []));
    await scene.advance(1000);
    assert.equal(scene.source.watches.length, 2);
    await scene.stop();
    assert.equal(scene.ending, 'returned');
  }
});

test('A stop() that throws is reported, and its error does not reach the caller of abort()', async () => {
  const stop = (): never => {
    throw new Error('cannot stop');
  };
  const scene = await watchingThis({ [Symbol.asyncIterator]: endless, stop }).run();
  await scene.stop();
  assert.equal(scene.ending, 'returned');
  assert.deepEqual(scene.errors, ['watch ERR_KUBELOOM_LISTER_WATCHER']);
});

test('A watch error handler that throws or rejects causes a warning', async (context) => {
  for (const watchErrorHandler of [
    (): never => {
      throw new Error('no pager');
    },
    (): Promise<never> => Promise.reject(new Error('no pager')),
  ]) {
    const warned = processWarnings(context);
    const scene = new ReflectorScene({ watchErrorHandler });
    scene.source.listAnswers.push(new Error('no list'));
    await scene.run();
    await settle();
    context.mock.restoreAll();
    assert.equal(warned.length, 1);
    assert.equal(warned[0]?.code, 'ERR_KUBELOOM_ERROR_LISTENER');
    assert.match(warned[0].message, /no pager/);
    await scene.stop();
  }
});
