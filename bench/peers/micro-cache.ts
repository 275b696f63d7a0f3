/** Reads of a cache of a given size: by key, by index, by label. */
import { InformerThreads, Lister, SharedIndexInformer, label } from '../../src/index.ts';
import type { KubeObject, ListerWatcher } from '../../src/index.ts';
import { FakeWatch } from '../../src/apiserver/testing/fake-controller-source.ts';
import type { MicroPart } from './micro-parts.ts';

/** Number of objects with each value of the index. */
const GROUP = 100;
const GETS = 1000;
const THINGS = { group: 'example.com', version: 'v1', resource: 'things', kind: 'Thing', isNamespaced: true };

export interface CacheParts {
  readonly parts: readonly MicroPart[];
  close(): Promise<void>;
}

export async function cacheParts(count: number): Promise<CacheParts> {
  const items = Array.from({ length: count }, (_, index) => thing(index));
  const metadata = { resourceVersion: String(count) };
  const source: ListerWatcher<KubeObject> = {
    list: () => Promise.resolve({ kind: 'ThingList', apiVersion: 'example.com/v1', metadata, items }),
    watch: () => Promise.resolve(new FakeWatch<KubeObject>(count, () => {})),
    isWatchListUnsupported: true,
  };
  const threads = new InformerThreads();
  const indexers = { group: label('group') };
  const informer = new SharedIndexInformer<KubeObject>(source, THINGS, {
    threads,
    borrowChecks: 'off',
    indexers,
  });
  const ended = informer.run();
  await informer.waitForSync();
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
        call: () => wantGroup(indexer.byIndex('group', 'group-3').length),
      },
      {
        name: `lister: ${GROUP} of ${size} by label`,
        operations: 1,
        call: () => wantGroup(lister.list('group=group-3').length),
      },
    ],
    close: async () => {
      await informer.shutdown();
      await ended;
      await threads.close();
    },
  };
}

function wantGroup(found: number): void {
  if (found !== GROUP) throw new Error(`${found} found, not ${GROUP}`);
}

function thing(index: number): KubeObject {
  const labels = { group: `group-${Math.floor(index / GROUP)}` };
  const name = `thing-${index}`;
  const resourceVersion = String(index + 1);
  const metadata = { name, namespace: 'default', uid: `uid-${index}`, resourceVersion, labels };
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata };
}
