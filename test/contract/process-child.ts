/**
 * A process with a running informer and nothing else, for the clause about the life of a process. When it is
 * still alive after a while it says so, stops the informer, and must then come to its end by itself.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import type { Codec } from '../../src/index.ts';

const [url = '', token = '', threadCount = '0', codec = 'json'] = process.argv.slice(2);
const kubeConfig = new KubeConfig();
kubeConfig.loadFromOptions({
  clusters: [{ name: 'cluster', server: url }],
  users: [{ name: 'user', token }],
  contexts: [{ name: 'context', cluster: 'cluster', user: 'user' }],
  currentContext: 'context',
});
const threads = new InformerThreads({ threads: Number(threadCount) });
const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true };
const informer = new SharedIndexInformer(kubeConfig, pods, { threads, codec: codec as Codec });
informer.addEventHandler({}, { resyncPeriodMs: 60_000 });
void informer.run();
await informer.waitForSync();
process.stdout.write('synced, ');
process.on('exit', () => process.stdout.write('ended\n'));
// Does not keep the process alive by itself: whether this is ever called is up to the informer.
const alive = setTimeout(() => {
  process.stdout.write('alive, ');
  void informer[Symbol.asyncDispose]().then(() => threads.close());
}, 300);
alive.unref();
