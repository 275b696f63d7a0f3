/** Threads that throw, end or stall are replaced, and handlers notice nothing. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { transformModule } from '../../../src/index.ts';
import type { KubeloomError, SharedIndexInformer } from '../../../src/index.ts';
import { Harness, Recorder, pod } from '../../unit/informer/pipeline/harness.ts';
import { asking } from './asking.ts';

const MODULE = new URL('./user-module.js', import.meta.url).href;

class Folder implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), 'kubeloom-recovery-'));

  once(name: string): string {
    return join(this.path, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

function codes(harness: Harness): string[] {
  return harness.errors.map((error) => (error as KubeloomError).code);
}

async function started(
  harness: Harness,
): Promise<{ informer: SharedIndexInformer<V1Pod>; recorder: Recorder }> {
  const informer = harness.informer({ transform: transformModule(MODULE, 'perform') });
  const recorder = new Recorder();
  informer.addEventHandler(recorder);
  await harness.synced(informer);
  return { informer, recorder };
}

for (const deed of ['exit', 'wait', 'loop']) {
  test(`C173 C178 a shard whose module does \`${deed}\` is replaced, and handlers receive everything once`, async () => {
    using folder = new Folder();
    await using harness = await Harness.start({ threads: 2, codec: 'msgpack' }, {}, { stallTimeoutMs: 1000 });
    await harness.server.populate({ count: 50 });
    const { informer, recorder } = await started(harness);
    const names = ['a', 'b', 'c', 'd'];
    const objects = names.map((name) => (name === 'b' ? asking(name, deed, folder.once('b')) : pod(name)));
    await harness.server.apply(objects.map((object) => ({ type: 'create', resource: 'pods', object })));
    await recorder.until(() => recorder.seen.length === 54);
    assert.deepEqual(
      recorder.seen.slice(50).map(({ type, key }) => `${type} ${key}`),
      names.map((name) => `ADDED default/${name}`),
    );
    await harness.assertStoreEqualsServer(informer);
    assert.equal(informer.getStore().getByKey('default/b')?.object.metadata?.name, 'b');
    assert.deepEqual(codes(harness), ['ERR_KUBELOOM_THREAD_RESTARTED']);
    const stats = await harness.threads.stats();
    assert.equal(
      stats.reduce((sum, { restarts }) => sum + restarts, 0),
      1,
    );
    assert.ok(stats.every(({ incarnation, restarts }) => incarnation === restarts + 1));
  });
}
