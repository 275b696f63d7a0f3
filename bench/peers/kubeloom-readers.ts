/** kubeloom under readers. The grid runs on a source of functions, lists and scans on the high-rate source. */
import { setTimeout as after } from 'node:timers/promises';
import { Lister, NAMESPACE_INDEX, SharedIndexInformer, resources } from '../../src/index.ts';
import type { Borrowed, KubeObject, ResourceRef } from '../../src/index.ts';
import type { OutcomeRow, Task } from '../task.ts';
import { connectionTo } from './connection.ts';
import { syncedCache } from './micro-cache.ts';
import { packageVersion } from './program.ts';
import { GRID_NAMESPACE, readTimes, runReaders } from './readers-grid.ts';
import type { GridCache, GridPod } from './readers-grid.ts';
import { touchParsed, touchPhase } from './touch.ts';

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

/** Includes a list and a scan that parse no object, and a scan that parses a single member; other clients offer none of them. */
async function lists(task: Task): Promise<OutcomeRow[]> {
  const informer = new SharedIndexInformer<KubeObject>(connectionTo(task), PODS, {
    fields: ['status.phase'],
  });
  void informer.run();
  await informer.waitForSync();
  await after(task.settleMs ?? 0);
  const lister = new Lister(informer.getIndexer(), PODS);
  const each = (read: (entry: Borrowed<KubeObject>) => unknown): number => {
    const found = lister.list();
    for (const entry of found) read(entry);
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
    ...readTimes('full scan by status', task.objects, () =>
      each(({ key, status }) => touchPhase(key, status)),
    ),
    ...readTimes('full scan by a declared field', task.objects, () =>
      each(({ key, fields }) => touchPhase(key, { phase: fields['status.phase'] })),
    ),
  ];
}

await runReaders('kubeloom', packageVersion(import.meta.url), gridCache, lists);
