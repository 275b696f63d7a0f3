/**
 * Process with one informer, for tests of whole processes: `node informer-child.js KUBECONFIG MODULE`. It answers each
 * message of its parent with the informer's state; SIGTERM shuts it down.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, SharedIndexInformer, transformModule } from '../../../src/index.ts';
import type { KubeloomError } from '../../../src/index.ts';
import { PODS } from '../../kit/objects.ts';

/** Answer to the parent. */
export interface Knowledge {
  readonly version: string;
  readonly errors: readonly string[];
  readonly restarts: number;
  /** `key@version` */
  readonly cache: readonly string[];
  /** Versions of an object that went back or came twice. */
  readonly regressions: number;
  readonly calls: number;
}

const [, , kubeconfigPath = '', module = ''] = process.argv;
const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(kubeconfigPath);
const threads = new InformerThreads({ shards: 1 });
const errors: string[] = [];
const informer = new SharedIndexInformer(kubeConfig, PODS, {
  threads,
  onError: (error) => errors.push(error.code),
  ...(module === '' ? {} : { transform: transformModule(module, 'perform') }),
});
const versions = new Map<string, number>();
let regressions = 0;
let calls = 0;

function received(key: string, version: string, isAgain: boolean): void {
  const before = versions.get(key) ?? 0;
  calls++;
  // A relist also delivers unchanged objects.
  if (Number(version) < before || (Number(version) === before && !isAgain)) regressions++;
  versions.set(key, Number(version));
}

informer.addEventHandler({
  onAdd: (added) => received(added.key, added.resourceVersion, false),
  onUpdate: (old, updated) => received(updated.key, updated.resourceVersion, old === updated),
  onDelete: (deleted) => versions.delete(deleted.key),
});
const run = informer.run().catch((error: KubeloomError) => {
  errors.push(`ended: ${error.code}`);
});

process.on('message', () => {
  void threads
    .stats()
    .catch(() => [])
    .then((stats) => {
      const knowledge: Knowledge = {
        version: informer.lastSyncResourceVersion(),
        errors,
        restarts: stats.reduce((sum, { restarts }) => sum + restarts, 0),
        cache: informer
          .getStore()
          .list()
          .map((entry) => `${entry.key}@${entry.resourceVersion}`),
        regressions,
        calls,
      };
      process.send?.(knowledge);
    });
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => {
  void informer
    .shutdown()
    .then(() => run)
    .then(() => threads.close())
    .then(() => process.disconnect());
});
await informer.waitForSync().catch(() => undefined);
process.send?.('synced');
