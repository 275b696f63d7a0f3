/** Connects an informer with the link to a reading thread. */
import { KubeloomError, assert } from '../../base/errors.ts';
import { NAMESPACE_INDEX } from '../../replica/store/index-functions.ts';
import { CacheExport } from './cache-export.ts';
import type { ReaderLink } from './reader-link.ts';
import type { Shareable } from '../../informer/shareable.ts';
import type { SharedInformerSpec } from '../messages.ts';

/** Share of `backlogBytesMax` that a thread may hold in old states before changes wait as a backlog. */
const HELD_SHARE: number = 1 / 8;

/** @internal An informer's cache, delivered to a thread. */
export interface ExportedCache {
  /** Delivers the pending notifications, and no later changes. */
  leave(): void;
  /** Ends the delivery after the thread ended. */
  end(): void;
}

/** Returns the settings that a thread needs; they are final after start. */
export function sharedInformerSpec({ name, sharedParts }: Shareable): Omit<SharedInformerSpec, 'key'> {
  const { resource, pipeline } = sharedParts;
  const { fields, indexers } = pipeline.extracted;
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
    objectBytesMax: pipeline.objectBytesMax,
  };
}

/** Delivers to the thread from now on. @throws ERR_KUBELOOM_STOPPED */
export function attachReader(link: ReaderLink, number: number, informer: Shareable): ExportedCache {
  if (informer.isStopped())
    throw new KubeloomError(
      'ERR_KUBELOOM_STOPPED',
      `${informer.name} has stopped: its cache no longer changes`,
    );
  const { pipeline, handlers } = informer.sharedParts;
  const { replica, cacheExports, threads } = pipeline;
  assert(threads !== undefined, 'a cache of an informer that was not started');
  const { drain, options } = threads;
  const cacheExport = new CacheExport(number, link, {
    table: replica.table,
    owner: () => {
      assert(pipeline.owner !== undefined, 'an object of an informer that was not started');
      return pipeline.owner;
    },
    replica,
    heldBytesMax: options.backlogBytesMax * HELD_SHARE,
    isIdle: () => handlers.isIdle(registration),
    remove: () => handlers.remove(registration, {}),
  });
  const registration = handlers.add(cacheExport, { name: `a thread's cache` }, cacheExport);
  link.add(number, cacheExport);
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
