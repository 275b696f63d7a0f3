/** A process with nothing but an informer on a source without sockets: how many threads, and `unref` to let it end. */
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import { FakeControllerSource } from '../../src/testing/index.ts';

const pods = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true };
const threads = new InformerThreads({ threads: Number(process.argv[2]) });
const informer = new SharedIndexInformer(new FakeControllerSource(), pods, { threads });
void informer.run();
await informer.waitForSync();
if (process.argv[3] === 'unref') threads.unref();
process.stdout.write('synced, ');
process.on('exit', () => process.stdout.write('ended'));
const alive = setTimeout(() => {
  process.stdout.write('alive, ');
  void informer[Symbol.asyncDispose]().then(() => threads.close());
}, 300);
alive.unref();
