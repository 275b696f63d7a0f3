/**
 * Process with an informer and a handler that never returns: `node --max-old-space-size=… small-process.js KUBECONFIG`.
 * It answers each message with its state. The limit of a control group is injected, because only root can set one; V8's
 * limit is real.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer } from '../../src/index.ts';
import type { KubeloomError } from '../../src/index.ts';
import { PODS } from '../kit/objects.ts';

export const LIMIT_BYTES: number = 256 * 2 ** 20;

/** Answer to the parent. */
export interface SmallProcess {
  readonly errors: readonly string[];
  readonly cached: number;
  readonly version: string;
  readonly backlogBytesMax: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

process.constrainedMemory = () => LIMIT_BYTES;
const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(process.argv[2] ?? '');
const threads = new InformerThreads({ shards: 1, backlogTimeoutMs: 1000 });
const errors: string[] = [];
const informer = new SharedIndexInformer(kubeConfig, PODS, {
  threads,
  onError: (error) => errors.push(error.code),
});
informer.addEventHandler({ onUpdate: () => new Promise(() => undefined) }, { name: 'stuck' });
const run = informer.run().catch((error: KubeloomError) => errors.push(`ended: ${error.code}`));

process.on('message', () => {
  const { heapUsed, rss } = process.memoryUsage();
  const answer: SmallProcess = {
    errors,
    cached: informer.getStore().size,
    version: informer.lastSyncResourceVersion(),
    backlogBytesMax: threads.options.backlogBytesMax,
    heapBytes: heapUsed,
    residentBytes: rss,
  };
  process.send?.(answer);
});
process.on('disconnect', () => process.exit(0));
await informer.waitForSync();
process.send?.('synced');
await run;
