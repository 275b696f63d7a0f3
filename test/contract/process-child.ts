/**
 * Process with only a running informer, for the clause about the life of a process. After a while the process prints that it runs,
 * and stops the informer: then it must end by itself. With unreferenced threads it must end while the informer runs; a process that
 * does not end is a hang, whatever the machine's speed.
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
const stop = (): void => {
  process.stdout.write('alive, ');
  void informer[Symbol.asyncDispose]().then(() => threads.close());
};
if (isUnref === '') setTimeout(stop, 300).unref();
