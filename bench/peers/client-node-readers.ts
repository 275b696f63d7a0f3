/**
 * client-node's cache under readers. The grid runs on a watch of functions, lists and scans on the high-rate source.
 */
import { CoreV1Api, KubeConfig, ListWatch, Watch } from '@kubernetes/client-node';
import type { KubernetesListObject, V1Pod } from '@kubernetes/client-node';
import type { OutcomeRow, Task } from '../task.ts';
import { loadKubeConfig } from './connection.ts';
import { packageVersion } from './program.ts';
import { GRID_NAMESPACE, readTimes, runReaders } from './readers-grid.ts';
import type { GridCache, GridPod } from './readers-grid.ts';
import { touchParsed } from './touch.ts';

const PATH = '/api/v1/pods';
type Deliver = (phase: string, object: unknown) => void;

/** The client's watch; the program supplies the events. */
class HandWatch extends Watch {
  deliver: Deliver = () => {};

  override watch(_path: string, _query: object, callback: Deliver): Promise<AbortController> {
    this.deliver = callback;
    return Promise.resolve(new AbortController());
  }
}

async function gridCache(pods: readonly GridPod[], onChange: () => void): Promise<GridCache> {
  const watch = new HandWatch(new KubeConfig());
  const list = (): Promise<KubernetesListObject<GridPod>> =>
    Promise.resolve({ metadata: { resourceVersion: String(pods.length) }, items: [...pods] });
  const cache = new ListWatch<GridPod>(PATH, watch, list, false);
  cache.on('update', onChange);
  await cache.start();
  return {
    list: () => cache.list(GRID_NAMESPACE),
    modify: (pod) => watch.deliver('MODIFIED', pod),
    close: () => cache.stop(),
  };
}

async function lists(task: Task): Promise<OutcomeRow[]> {
  const config = loadKubeConfig(new KubeConfig(), task);
  const api = config.makeApiClient(CoreV1Api);
  const cache = new ListWatch<V1Pod>(PATH, new Watch(config), () => api.listPodForAllNamespaces(), false);
  await cache.start();
  const scan = (isWanted: (pod: V1Pod) => boolean): number => {
    const found = cache.list().filter(isWanted);
    for (const pod of found) touchParsed(pod, 'object');
    return found.length;
  };
  return [
    ...readTimes('list by label', task.objects, () =>
      scan(({ metadata }) => metadata?.labels?.['app'] === 'web'),
    ),
    ...readTimes('full scan', task.objects, () => scan(() => true)),
  ];
}

const version = packageVersion(import.meta.resolve('@kubernetes/client-node'));
await runReaders('client-node', version, gridCache, lists);
