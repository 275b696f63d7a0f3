/**
 * The informer of `@kubernetes/client-node` on the high-rate source, as a process of its own: what the
 * demo's rate is compared with. It does what the demo's prompt handler does: writes down key and version.
 */
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import type { KubernetesObject } from '@kubernetes/client-node';
import { HandlerHistory } from './handler-history.ts';

/** What it is told: JSON in its only argument. */
export interface PeerTask {
  readonly kubeConfig: string;
  /** Changes after the list. */
  readonly events: number;
}

/** What it answers. */
export interface PeerResult {
  /** Changes it was told of. */
  readonly events: number;
  /** From the first change to the last. */
  readonly elapsedMs: number;
  readonly syncMs: number;
  /** CPU time of its process from the first change to the last. */
  readonly cpuMs: number;
}

async function run({ kubeConfig, events }: PeerTask): Promise<PeerResult> {
  const config = new KubeConfig();
  config.loadFromString(kubeConfig);
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
  const history = new HandlerHistory();
  const started = performance.now();
  return await new Promise((resolve, reject) => {
    let firstAt = 0;
    let syncMs = 0;
    let cpuBefore = process.cpuUsage();
    const record = (kind: 'INITIAL' | 'MODIFIED', object: KubernetesObject): void => {
      const { namespace, name, resourceVersion } = object.metadata ?? {};
      if (kind === 'MODIFIED' && history.changes === 0) {
        firstAt = performance.now();
        syncMs = Math.round(firstAt - started);
        cpuBefore = process.cpuUsage();
      }
      history.record(kind, `${namespace}/${name}`, resourceVersion ?? '');
      if (history.changes < events) return;
      const { user, system } = process.cpuUsage(cpuBefore);
      const cpuMs = Math.round((user + system) / 1000);
      resolve({ events: history.changes, elapsedMs: performance.now() - firstAt, syncMs, cpuMs });
    };
    informer.on('add', (pod) => record('INITIAL', pod));
    informer.on('update', (pod) => record('MODIFIED', pod));
    informer.on('error', reject);
    informer.start().catch(reject);
  });
}

// The parent is gone when the channel is: then nobody wants the answer.
process.on('disconnect', () => process.exit(0));
const result = await run(JSON.parse(process.argv[2] ?? '') as PeerTask);
process.send?.(result, () => process.exit(0));
