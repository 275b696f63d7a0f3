/**
 * Process with an informer of pods: `node informer-child.js OPTIONS`. It answers each message of the parent with the
 * informer's state; SIGTERM shuts it down. The limit of a control group is injected, because only root can set one.
 */
import { InformerThreads, SharedIndexInformer, loadKubeConfig, transformModule } from '../../src/index.ts';
import type { KubeloomError, ThreadsOptions } from '../../src/index.ts';
import { PODS } from './objects.ts';

export interface ChildOptions {
  readonly kubeconfig: string;
  /** A module whose `perform` transforms the objects. */
  readonly module?: string;
  readonly memoryLimitBytes?: number;
  readonly threads?: ThreadsOptions;
  /** The only handler: it checks the order of versions, never returns from updates, or reads keys. Default: checks. */
  readonly handler?: 'checks' | 'stuck' | 'keys';
}

/** Answer to the parent. */
export interface ChildState {
  readonly version: string;
  readonly errors: readonly string[];
  readonly restarts: number;
  readonly size: number;
  /** The cached objects as `key@version`, if the parent asks for them. */
  readonly cache: readonly string[];
  /** Versions of an object that went back or came twice. */
  readonly regressions: number;
  readonly backlogBytesMax: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as ChildOptions;
const { kubeconfig, module, memoryLimitBytes, handler = 'checks' } = options;
if (memoryLimitBytes !== undefined) process.constrainedMemory = () => memoryLimitBytes;
const kubeConfig = loadKubeConfig({ path: kubeconfig });
const threads = new InformerThreads({ indexerThreads: 1, ...options.threads });
const errors: string[] = [];
const informer = new SharedIndexInformer(kubeConfig, PODS, {
  threads,
  onError: (error) => errors.push(error.code),
  ...(module === undefined ? {} : { transform: transformModule(module, 'perform') }),
});
const versions = new Map<string, number>();
let regressions = 0;

function received(key: string, version: string, isAgain: boolean): void {
  const before = versions.get(key) ?? 0;
  // A relist also delivers unchanged objects.
  if (Number(version) < before || (Number(version) === before && !isAgain)) regressions++;
  versions.set(key, Number(version));
}

const never = new Promise(() => undefined);
if (handler === 'stuck') informer.addEventHandler({ onUpdate: () => never }, { name: 'stuck' });
else if (handler === 'keys')
  informer.addEventHandler({ onAdd: ({ key }) => key, onUpdate: (_, { key }) => key });
else
  informer.addEventHandler({
    onAdd: (added) => received(added.key, added.resourceVersion, false),
    onUpdate: (old, updated) => received(updated.key, updated.resourceVersion, old === updated),
    onDelete: (deleted) => versions.delete(deleted.key),
  });
const run = informer.run().catch((error: KubeloomError) => errors.push(`ended: ${error.code}`));

function answer(hasCache: boolean): void {
  const { heapUsed, rss } = process.memoryUsage();
  const entries = hasCache ? informer.getStore().list() : [];
  const state: ChildState = {
    version: informer.lastSyncResourceVersion(),
    errors,
    restarts: threads.stats().reduce((sum, { restarts }) => sum + restarts, 0),
    size: informer.getStore().size,
    cache: entries.map(({ key, resourceVersion }) => `${key}@${resourceVersion}`),
    regressions,
    backlogBytesMax: threads.options.backlogBytesMax,
    heapBytes: heapUsed,
    residentBytes: rss,
  };
  process.send?.(state);
}

async function shutDown(): Promise<void> {
  await informer.shutdown();
  await run;
  await threads.close();
  process.disconnect();
}

process.on('message', (hasCache: boolean) => answer(hasCache));
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => void shutDown());
await informer.waitForSync().catch(() => undefined);
process.send?.('synced');
