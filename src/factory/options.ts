/** What all factories can be told. */
import type { KubeConfig } from '@kubernetes/client-node';
import { KubeloomError } from '../errors.ts';
import { resolveInformerOptions } from '../informer/options.ts';
import type { InformerOptions } from '../informer/options.ts';
import type { ListerWatcher } from '../kube/list-watch.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { KubeObject } from '../kube/wire.ts';
import { refuse, resolveThreadsOptions, wantNumber } from '../options.ts';
import { InformerThreads } from '../threads/informer-threads.ts';
import { groupResource, keyOfResource } from './resource-wish.ts';
import type { GroupVersionResource } from './resource-wish.ts';

/** In the place of a server: gives what lists and watches a resource. @param namespace '' for all */
export type ListerWatcherSource = (resource: ResourceRef, namespace: string) => ListerWatcher<unknown>;

/** Where a factory's informers list and watch. */
export type FactorySource = KubeConfig | ListerWatcherSource;

/**
 * Periods in milliseconds, by `deployments.apps` or `pods` for all versions, or in a Map also by group, version and
 * resource for one of them, which then counts.
 */
export type CustomResync =
  | ReadonlyMap<string | GroupVersionResource, number>
  | Readonly<Record<string, number>>;

/** Options of all the factory's informers. A namespace is left out where a resource is cluster-scoped. */
export interface FactoryOptions extends Omit<
  InformerOptions<KubeObject>,
  'indexers' | 'projection' | 'resyncPeriodMs'
> {
  /** In messages. Default: the factory's class. */
  readonly name?: string;
  /** Of handlers without a period of their own; 0 (default): never. */
  readonly defaultResyncMs?: number;
  /** In place of the default, resource by resource. */
  readonly customResync?: CustomResync;
}

/** What informers are told, and what only the factory knows. */
export interface SplitOptions {
  readonly ofInformers: InformerOptions<KubeObject>;
  resyncPeriodMs(resource: ResourceRef): number;
}

/** @throws ERR_KUBELOOM_OPTION for what no informer could be made with */
export function splitOptions(source: FactorySource, options: FactoryOptions): SplitOptions {
  const { name = '', defaultResyncMs = 0, customResync = {}, ...ofInformers } = options;
  if (typeof name !== 'string') refuse('name', name, 'text');
  wantNumber('defaultResyncMs', defaultResyncMs, 0, Number.MAX_SAFE_INTEGER);
  checkInformerOptions(source, ofInformers);
  const periods = periodsOf(customResync);
  return {
    ofInformers,
    resyncPeriodMs: (resource) =>
      periods.get(keyOfResource(resource)) ?? periods.get(groupResource(resource)) ?? defaultResyncMs,
  };
}

function checkInformerOptions(source: unknown, options: InformerOptions<KubeObject>): void {
  const { namespace = '', threads } = options;
  if (typeof source !== 'function' && (typeof source !== 'object' || source === null)) {
    refuse('the source of a factory', source, 'a KubeConfig, or a function that gives ListerWatchers');
  }
  if (typeof namespace !== 'string') refuse('namespace', namespace, 'text');
  resolveInformerOptions(options);
  if (!(threads instanceof InformerThreads)) resolveThreadsOptions(threads);
}

function periodsOf(customResync: CustomResync): ReadonlyMap<string, number> {
  const entries = customResync instanceof Map ? [...customResync] : Object.entries(customResync);
  const periods = new Map<string, number>();
  for (const [resource, periodMs] of entries as Iterable<[string | GroupVersionResource, number]>) {
    const key = typeof resource === 'string' ? resource : keyOfResource(resource);
    wantNumber(`customResync of ${key}`, periodMs, 0, Number.MAX_SAFE_INTEGER);
    if (periods.has(key)) {
      throw new KubeloomError('ERR_KUBELOOM_OPTION', `customResync has ${key} twice`);
    }
    periods.set(key, periodMs);
  }
  return periods;
}
