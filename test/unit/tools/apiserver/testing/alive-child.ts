/**
 * A process with only an informer on a source without sockets: arguments are the number of threads, and
 * `unref` to let it end.
 */
import { InformerThreads, SharedIndexInformer } from '../../../../../src/index.ts';
import { FakeControllerSource } from '../../../../../src/tools/apiserver/testing/index.ts';
import { PODS } from '../../../../kit/objects.ts';

const source = new FakeControllerSource();
const threads = new InformerThreads({ indexerThreads: Number(process.argv[2]) });
// A timer of a resync, or of a wait for a handler, does not keep it alive either.
const informer = new SharedIndexInformer(source, PODS, { threads, resyncPeriodMs: 60_000 });
informer.addEventHandler({ onAdd: () => new Promise(() => undefined) });
for (const name of ['a', 'b']) source.add({ metadata: { name } });
void informer.run();
await informer.waitForSync();
process.stdout.write('synced, ');
process.on('exit', () => process.stdout.write('ended'));
if (process.argv[3] === 'unref') threads.unref();
else
  setTimeout(() => {
    process.stdout.write('alive, ');
    void informer.shutdown({ signal: AbortSignal.abort() }).catch(() => threads.close());
  }, 300).unref();
