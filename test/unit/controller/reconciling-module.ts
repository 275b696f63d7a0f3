/** The module of a controller in tests: it fails with what the caches of its thread have, except for the keys `id`, `wait`, `asks`, `block`. */
import { getEnvironmentData, isMainThread } from 'node:worker_threads';
import type { KubeObject } from '../../../src/index.ts';
import { TerminalError } from '../../../src/thread/index.ts';
import type { ThreadReconcile } from '../../../src/thread/index.ts';

const reconcile: ThreadReconcile<{ deployments: KubeObject; replicasets: KubeObject }> = async (
  key,
  { cache, signal, reconcileID },
) => {
  const indexer = cache.informer('deployments').getIndexer();
  const name = indexer.getByKey(key)?.name;
  if (name === 'id') throw new TerminalError(reconcileID);
  if (name === 'wait') {
    Atomics.store(getEnvironmentData('waiting') as Int32Array, 0, 1);
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  }
  if (name === 'asks') {
    const words = getEnvironmentData('asking') as Int32Array;
    Atomics.store(words, 0, 1);
    while (!signal.aborted) await new Promise((resolve) => setImmediate(resolve));
    Atomics.store(words, 1, 1);
    Atomics.notify(words, 1);
    return;
  }
  if (name === 'block') {
    const words = getEnvironmentData('waiting') as Int32Array;
    Atomics.store(words, 0, 1);
    Atomics.wait(words, 1, 0);
    return;
  }
  const replicaSets = cache.informer('replicasets').getIndexer().size;
  if (!isMainThread) throw new TerminalError(`${name} of ${indexer.size}, with ${replicaSets} replica sets`);
};

export default reconcile;
