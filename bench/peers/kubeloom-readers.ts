/** kubeloom under readers. The grid runs on a source of functions, lists and scans on the high-rate source. */
import { KubeConfig } from '@kubernetes/client-node';
import { InformerThreads, Lister, NAMESPACE_INDEX, SharedIndexInformer, resources } from '../../src/index.ts';
import type { KubeObject, ResourceRef } from '../../src/index.ts';
import type { OutcomeRow, Task } from '../task.ts';
import { loadKubeConfig } from './connection.ts';
import { syncedCache } from './micro-cache.ts';
import { packageVersion } from './program.ts';
import { GRID_NAMESPACE, readTimes, runReaders } from './readers-grid.ts';
import type { GridCache, GridPod } from './readers-grid.ts';
import { phaseOf, touchParsed } from './touch.ts';

const PODS: ResourceRef = resources.core.v1.pods;

async function gridCache(pods: readonly GridPod[], onChange: () => void): Promise<GridCache> {
  const { informer, watch, close } = await syncedCache(PODS, pods);
  informer.addEventHandler({ onUpdate: onChange });
  const indexer = informer.getIndexer();
  return {
    list: () => indexer.byIndex(NAMESPACE_INDEX, GRID_NAMESPACE),
    modify: (pod) => watch.send({ type: 'MODIFIED', object: pod }),
    close,
  };
}

/** Includes a list that parses no object and a scan that parses a single member; other clients offer neither. */
async function lists(task: Task): Promise<OutcomeRow[]> {
  const threads = new InformerThreads();
  const config = loadKubeConfig(new KubeConfig(), task);
  const informer = new SharedIndexInformer<KubeObject>(config, PODS, {
    threads,
    debug: { retainChecks: 'off' },
  });
  void informer.run();
  await informer.waitForSync();
  const lister = new Lister(informer.getIndexer(), PODS);
  const phases = (): number => {
    const found = lister.list();
    for (const { key, status } of found)
      if (phaseOf(status) === undefined) throw new Error(`${key} has no phase`);
    return found.length;
  };
  const scan = (selector: string): number => {
    const found = lister.list(selector);
    for (const entry of found) touchParsed(entry.object, 'object');
    return found.length;
  };
  return [
    ...readTimes('list by label, keys only', task.objects, () => lister.list('app=web').length),
    ...readTimes('list by label', task.objects, () => scan('app=web')),
    ...readTimes('full scan', task.objects, () => scan('')),
    ...readTimes('full scan by status.phase', task.objects, phases),
  ];
}

await runReaders('kubeloom', packageVersion(import.meta.url), gridCache, lists);
