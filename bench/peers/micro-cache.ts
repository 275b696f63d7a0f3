/** Reads of a cache of a given size: by key, by index, by label. */
import { InformerThreads, Lister, SharedIndexInformer, label } from '../../src/index.ts';
import type { InformerOptions, KubeObject, ListerWatcher, ResourceRef } from '../../src/index.ts';
import { FakeWatch } from '../../src/tools/apiserver/testing/fake-controller-source.ts';
import type { MicroPart } from './micro-parts.ts';

/** Number of objects with each value of the index. */
const GROUP = 100;
const GETS = 1000;
const THINGS = { group: 'example.com', version: 'v1', resource: 'things', kind: 'Thing', isNamespaced: true };

export interface CacheParts {
  readonly parts: readonly MicroPart[];
  readonly close: () => Promise<void>;
}

interface SyncedCache<T extends object> {
  readonly informer: SharedIndexInformer<T>;
  /** The informer's watch, by which a program changes the objects. */
  readonly watch: FakeWatch<T>;
  readonly close: () => Promise<void>;
}

/** Returns an informer that is synced with these objects through functions, without a server. */
export async function syncedCache<T extends object>(
  resource: ResourceRef,
  items: readonly T[],
  options: Partial<InformerOptions<T>> = {},
): Promise<SyncedCache<T>> {
  const { kind, group, version } = resource;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const metadata = { resourceVersion: String(items.length) };
  const watch = new FakeWatch<T>(items.length, () => {});
  const source: ListerWatcher<T> = {
    list: () => Promise.resolve({ kind: `${kind}List`, apiVersion, metadata, items: [...items] }),
    watch: () => Promise.resolve(watch),
    isWatchListUnsupported: true,
  };
  const threads = new InformerThreads();
  const informer = new SharedIndexInformer<T>(source, resource, {
    threads,
    ...options,
  });
  const ended = informer.run();
  await informer.waitForSync();
  const close = async (): Promise<void> => {
    await informer.shutdown();
    await ended;
    await threads.close();
  };
  return { informer, watch, close };
}

export async function cacheParts(count: number): Promise<CacheParts> {
  const items = Array.from({ length: count }, (_, index) => thing(index));
  const { informer, close } = await syncedCache(THINGS, items, { indexers: { group: label('group') } });
  const indexer = informer.getIndexer();
  const lister = new Lister(indexer, THINGS);
  const keys = Array.from({ length: GETS }, (_, index) => `default/thing-${(index * 7919) % count}`);
  const size = count.toLocaleString('en-US');
  return {
    parts: [
      {
        name: `lister: get of ${size}`,
        operations: GETS,
        call: () => {
          for (const key of keys) if (indexer.getByKey(key) === undefined) throw new Error(`no ${key}`);
        },
      },
      {
        name: `lister: ${GROUP} of ${size} by index`,
        operations: 1,
        call: () => checkGroup(indexer.byIndex('group', 'group-3').length),
      },
      {
        name: `lister: ${GROUP} of ${size} by label`,
        operations: 1,
        call: () => checkGroup(lister.list('group=group-3').length),
      },
    ],
    close,
  };
}

function checkGroup(found: number): void {
  if (found !== GROUP) throw new Error(`${found} found, not ${GROUP}`);
}

function thing(index: number): KubeObject {
  const labels = { group: `group-${Math.floor(index / GROUP)}` };
  const name = `thing-${index}`;
  const resourceVersion = String(index + 1);
  const metadata = { name, namespace: 'default', uid: `uid-${index}`, resourceVersion, labels };
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata };
}
