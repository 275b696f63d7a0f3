/**
 * A process that makes informers and does not run them; with `beside` one more, which runs and is stopped. It says
 * how many threads were started, and must come to its end by itself.
 */
import { SharedIndexInformer, SharedInformerFactory, label } from '../../../../../src/index.ts';
import { FakeControllerSource } from '../../../../../src/tools/apiserver/testing/index.ts';
import { PODS } from '../../../../kit/objects.ts';

const source = new FakeControllerSource();
let workers = 0;
process.on('worker', () => workers++);
process.on('exit', () => process.stdout.write(`${workers} threads, ended`));

const never = new SharedIndexInformer(source, PODS, {
  threads: { indexerThreads: 1 },
  resyncPeriodMs: 60_000,
});
never.addEventHandler({ onAdd: () => undefined });
never.addIndexers({ app: label('app') });
never.getIndexer().list();
const factory = new SharedInformerFactory(() => source, { threads: { indexerThreads: 1 } });
factory.core.v1.pods.informer.addEventHandler({ onAdd: () => undefined });

if (process.argv[2] === 'beside') {
  const informer = new SharedIndexInformer(source, PODS);
  const run = informer.run();
  await informer.waitForSync();
  await informer.shutdown();
  await run;
  process.stdout.write('stopped, ');
}
