/** Connects an informer with the link to a reading thread. */
import { assert } from '../../base/errors.ts';
import { NAMESPACE_INDEX } from '../../replica/store/index-functions.ts';
import { CacheExport } from '../../replica/share/cache-export.ts';
import type { ReaderLink } from '../../replica/share/reader-link.ts';
import type { Handlers } from '../handlers.ts';
import type { InformerPipeline } from '../pipeline.ts';
import type { ExportedCache, SharedInformerSpec } from './shared-cache.ts';

/** Share of `backlogBytesMax` that a thread may hold in old states before changes wait as a backlog. */
const HELD_SHARE: number = 1 / 8;

type ExportedPipeline = Pick<
  InformerPipeline<never>,
  'replica' | 'owner' | 'cacheExports' | 'extracted' | 'objectBytesMax' | 'threads'
>;

/** Returns the settings that a thread needs; they are final after start. */
export function sharedInformerSpec(
  { name, resource }: Pick<SharedInformerSpec, 'name' | 'resource'>,
  { extracted, objectBytesMax }: ExportedPipeline,
): Omit<SharedInformerSpec, 'key'> {
  const { fields, indexers } = extracted;
  // Every cache finds objects by namespace without an index.
  const data = Object.entries(indexers).filter(
    ([index, indexer]) => typeof indexer === 'object' && index !== NAMESPACE_INDEX,
  );
  const { group, version, resource: plural, kind, isNamespaced } = resource;
  return {
    name,
    resource: { group, version, resource: plural, kind, isNamespaced },
    fields: [...fields],
    indexers: Object.fromEntries(data) as SharedInformerSpec['indexers'],
    objectBytesMax,
  };
}

/** Delivers to the thread from now on. */
export function attachReader(
  link: ReaderLink,
  informer: number,
  pipeline: ExportedPipeline,
  handlers: Pick<Handlers, 'add' | 'remove'>,
): ExportedCache {
  const { replica, cacheExports, threads } = pipeline;
  assert(threads !== undefined, 'a cache of an informer that was not started');
  const { drain, options } = threads;
  const cacheExport = new CacheExport(informer, link, {
    table: replica.table,
    owner: () => {
      assert(pipeline.owner !== undefined, 'an object of an informer that was not started');
      return pipeline.owner;
    },
    replica,
    heldBytesMax: options.backlogBytesMax * HELD_SHARE,
    isIdle: () => registration.backlog.notifications === 0,
    remove: () => handlers.remove(registration, {}),
  });
  const registration = handlers.add(cacheExport, { name: `a thread's cache` }, cacheExport);
  link.add(informer, cacheExport);
  cacheExports.add(cacheExport);
  drain.addMaintenance(link.runOnce);
  return {
    leave: () => handlers.remove(registration, { drain: true }),
    end: () => {
      drain.removeMaintenance(link.runOnce);
      cacheExports.remove(cacheExport);
    },
  };
}
