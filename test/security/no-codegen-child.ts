/**
 * An informer with msgpack and threads, in a process that may not generate code from text; prints the objects that it
 * read.
 */
import assert from 'node:assert/strict';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import { startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { PODS } from '../kit/objects.ts';
import { kubeConfigOf } from '../kit/scene.ts';

// oxlint-disable-next-line no-eval, no-implied-eval -- what must not work
assert.throws(() => eval('1'), EvalError);
await using server = await startEmbeddedApiServer();
await server.populate({ count: 20 });
await using threads = new InformerThreads({ indexerThreads: 1 });
await using informer = new SharedIndexInformer<{ spec: { nodeName: string } }>(kubeConfigOf(server), PODS, {
  threads,
  codec: 'msgpack',
});
void informer.run();
await informer.waitForSync();
const entries = informer.getStore().list();
const parsed = entries.filter(({ object }) => typeof object.spec === 'object').length;
process.stdout.write(`${entries.length} objects, ${parsed} parsed\n`);
