/** The options of all factories. */
import { KubeloomError } from '../../base/errors.ts';
import { INFORMER_CHECKS, resolveInformerOptions } from '../options.ts';
import type { InformerOptions } from '../options.ts';
import type { ListerWatcher } from '../../kube/list-watch.ts';
import type { ResourceRef } from '../../kube/resource.ts';
import { assertServerSource } from '../../kube/server-source.ts';
import type { ServerSource } from '../../kube/server-source.ts';
import type { KubeObject } from '../../kube/wire.ts';
import { refuse, text, wantNumber, wantOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import { groupResource, keyOfResource } from './resource-query.ts';
import type { GroupVersionResource } from './resource-query.ts';

/** Function that returns the ListerWatcher of a resource, instead of a server. @param namespace '' for all */
export type ListerWatcherSource = (resource: ResourceRef, namespace: string) => ListerWatcher<unknown>;

/** Source from which a factory's informers list and watch. */
export type FactorySource = ServerSource | ListerWatcherSource;

/**
 * Resync periods in ms by resource: `deployments.apps` or `pods` for all versions. A Map may also have keys of group,
 * version and resource; such a key takes precedence.
 */
export type CustomResync =
  | ReadonlyMap<string | GroupVersionResource, number>
  | Readonly<Record<string, number>>;

/** Options of all the factory's informers. Cluster-scoped resources ignore the namespace. */
export interface FactoryOptions extends Omit<
  InformerOptions<KubeObject>,
  'indexers' | 'view' | 'resyncPeriodMs'
> {
  /** Name in messages. Default: the factory's class. */
  readonly name?: string;
  /** Resync period of handlers without their own period; 0 (default): never. */
  readonly defaultResyncMs?: number;
  /** Resync periods of single resources, which replace the default. */
  readonly customResync?: CustomResync;
}

/** Options of the informers, and the resync period that the factory derives for each resource. */
export interface SplitOptions {
  readonly ofInformers: InformerOptions<KubeObject>;
  resyncPeriodMs(resource: ResourceRef): number;
}

const { indexers: _indexers, view: _view, resyncPeriodMs, ...SHARED_CHECKS } = INFORMER_CHECKS;
const CHECKS: OptionChecks<FactoryOptions> = {
  ...SHARED_CHECKS,
  name: text,
  defaultResyncMs: resyncPeriodMs,
  customResync: (name, value) => {
    if (typeof value !== 'object' || value === null)
      refuse(name, value, 'periods by resource, or a Map of them');
  },
};

/** Checks and splits the options of a factory. @throws ERR_KUBELOOM_OPTION for invalid options */
export function splitOptions(source: FactorySource, options: FactoryOptions): SplitOptions {
  if (typeof source !== 'function') assertServerSource(source);
  wantOptions('options of a factory', options, CHECKS);
  const { name: _name, defaultResyncMs = 0, customResync = {}, ...ofInformers } = options;
  resolveInformerOptions(ofInformers);
  const periods = periodsOf(customResync);
  return {
    ofInformers,
    resyncPeriodMs: (resource) =>
      periods.get(keyOfResource(resource)) ?? periods.get(groupResource(resource)) ?? defaultResyncMs,
  };
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
