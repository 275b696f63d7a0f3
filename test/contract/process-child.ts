/**
 * Process with only a running informer, for the clause about the life of a process. If it still runs after a while, it
 * prints so and stops the informer. Then it must end by itself; with unreferenced threads it must end before.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer, resources } from '../../src/index.ts';
import type { Codec } from '../../src/index.ts';

const [url = '', token = '', threadCount = '0', codec = 'json', isUnref = ''] = process.argv.slice(2);
const kubeConfig = new KubeConfig();
kubeConfig.loadFromOptions({
  clusters: [{ name: 'cluster', server: url }],
  users: [{ name: 'user', token }],
  contexts: [{ name: 'context', cluster: 'cluster', user: 'user' }],
  currentContext: 'context',
});
const threads = new InformerThreads({
  indexerThreads: threadCount === 'auto' ? 'auto' : Number(threadCount),
});
const { pods } = resources.core.v1;
const informer = new SharedIndexInformer(kubeConfig, pods, { threads, codec: codec as Codec });
informer.addEventHandler({ onAdd: () => undefined }, { resyncPeriodMs: 60_000 });
void informer.run();
await informer.waitForSync();
process.stdout.write('synced, ');
if (isUnref !== '') threads.unref();
process.on('exit', () => process.stdout.write('ended\n'));
// An unreferenced timer: only the informer decides whether the process runs long enough for it.
const alive = setTimeout(() => {
  process.stdout.write('alive, ');
  void informer[Symbol.asyncDispose]().then(() => threads.close());
}, 300);
alive.unref();
