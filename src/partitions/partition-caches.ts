/**
 * The caches of partitions. If the server filters, each partition opens separate caches: a watch of each kind, which
 * carries only the partition's objects. If the server ignores the selector, each of those watches would carry all
 * objects, so all partitions of the member share common caches. In both cases a partition reads through a filtered
 * view.
 *
 * A new owner must not begin with a state older than the hand-over. A list that starts after the hand-over is always
 * new enough; common caches that were filled before must first reach the version that the server reported after the
 * hand-over.
 */
import type { Clock } from '../base/clock.ts';
import { abortable } from '../base/on-abort.ts';
import { resourcePath } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { ApiClient } from '../http/api-client.ts';
import { compareResourceVersions } from '../kube/resource-version.ts';
import { ShardFilter } from '../kube/shard-filter.ts';
import { InformersMap } from '../informer/map/informers-map.ts';
import { resources, shardSelectorText, partitionRanges } from '../index.ts';
import type { InformerHandle } from '../informer/map/informer-handle.ts';
import type { InformersMapOptions } from '../informer/map/map-options.ts';
import type { KubeObject, ShardSelector } from '../index.ts';
import { changesSince } from './bookmark-probe.ts';

/**
 * Time for which common caches wait for further partitions before the first list: members usually take several
 * partitions together.
 */
const GATHER_MS = 200;

type Handles = readonly InformerHandle<KubeObject>[];

/** @internal The caches of a partition. */
export interface CachesOfPartition extends AsyncDisposable {
  readonly cache: InformersMap;
  /** Resolves when the filled caches are at least as new as the call of `open`. */
  current(handles: Handles): Promise<void>;
}

/** @internal */
export class PartitionCaches {
  readonly #source: ServerSource;
  readonly #options: InformersMapOptions;
  readonly #namespace: string;
  readonly #clock: Clock;
  readonly #api: ApiClient;
  readonly #common: InformersMap;
  readonly #end = new AbortController();
  #filters: Promise<boolean> | undefined;
  #gathered: Promise<void> | undefined;
  #isGathering = true;

  /** @param namespace of the leases: the member may list them, so they serve to probe the server */
  constructor(source: ServerSource, options: InformersMapOptions, namespace: string, clock: Clock) {
    this.#source = source;
    this.#options = options;
    this.#namespace = namespace;
    this.#clock = clock;
    this.#api = new ApiClient(source);
    this.#common = new InformersMap(source, options);
  }

  async open(selector: ShardSelector, signal: AbortSignal): Promise<CachesOfPartition> {
    if (await abortable(this.#isFiltering(), signal)) {
      const { restMapper } = this.#common;
      const options = { ...this.#options, restMapper, shardSelector: selector };
      const cache = new InformersMap(this.#source, options);
      return {
        cache: cache.part(new ShardFilter(selector)),
        current: () => Promise.resolve(),
        [Symbol.asyncDispose]: () => cache.shutdown(),
      };
    }
    const cache = this.#common;
    const isNew = await abortable(this.#gather(), signal);
    return {
      cache: cache.part(new ShardFilter(selector)),
      current: async (handles) => {
        if (!isNew) await Promise.all(handles.map((handle) => this.#catchUp(cache, handle, signal)));
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }

  /** Closes the common caches. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#common.shutdown();
  }

  #isFiltering(): Promise<boolean> {
    this.#filters ??= this.#probe().catch((error: unknown) => {
      // The next partition probes again.
      this.#filters = undefined;
      throw error;
    });
    return this.#filters;
  }

  /** Returns whether the server filters: such a server repeats the selector in a list of a built-in type. */
  async #probe(): Promise<boolean> {
    const everything = shardSelectorText(partitionRanges([0], 1));
    const list = await this.#read(
      resourcePath(resources.coordination.v1.leases, this.#namespace),
      { shardSelector: everything },
      this.#end.signal,
    );
    return list.metadata?.shardInfo?.selector !== undefined;
  }

  /** Returns whether the first lists of the common caches begin after this call. */
  async #gather(): Promise<boolean> {
    if (!this.#isGathering) return false;
    this.#gathered ??= new Promise((resolve) => {
      this.#clock.schedule(GATHER_MS, () => {
        this.#isGathering = false;
        resolve();
      });
    });
    await this.#gathered;
    return true;
  }

  /** Waits for the server's present version in each namespace. */
  async #catchUp(
    cache: InformersMap,
    handle: InformerHandle<KubeObject>,
    signal: AbortSignal,
  ): Promise<void> {
    const namespaces = cache.namespaces(handle.resource);
    const each = namespaces.length > 0 ? namespaces : [''];
    await Promise.all(each.map((namespace) => this.#catchUpIn(namespace, handle, signal)));
  }

  async #catchUpIn(
    namespace: string,
    handle: InformerHandle<KubeObject>,
    signal: AbortSignal,
  ): Promise<void> {
    const list = await this.#read(resourcePath(handle.resource, namespace), {}, signal);
    const { resourceVersion = '' } = list.metadata ?? {};
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const reached = handle.waitForWrite({ metadata: { namespace, resourceVersion } }, { signal: until });
    const complete = this.#hasAll(handle, namespace, resourceVersion, until);
    try {
      await Promise.race([reached, complete.then((hasAll) => (hasAll ? undefined : reached))]);
    } finally {
      over.abort();
    }
  }

  /**
   * Resolves with true when the cache contains all changes up to this version. The informer's own watch of a quiet kind
   * would show that only with the next bookmark, up to a minute later. Resolves with false when the server does not
   * tell, or answers with an error: the cache then catches up through its own watch.
   */
  async #hasAll(
    handle: InformerHandle<KubeObject>,
    namespace: string,
    version: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const path = resourcePath(handle.resource, namespace);
    for (;;) {
      const from = handle.versionOf(namespace);
      const changes = await changesSince(this.#api, path, from, signal).catch(() => undefined);
      if (changes === undefined) return false;
      const { lastChange: resourceVersion, until } = changes;
      if (resourceVersion)
        await handle.waitForWrite({ metadata: { namespace, resourceVersion } }, { signal });
      if (compareResourceVersions(until, version) >= 0) return true;
    }
  }

  /** Reads the metadata of a list, with at most a single object. */
  async #read(
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ListOfOne> {
    const parameters = new URLSearchParams({ limit: '1', ...query }).toString();
    return (await this.#api.getJson(`${path}?${parameters}`, signal)) as ListOfOne;
  }
}

interface ListOfOne {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly shardInfo?: { readonly selector?: string };
  };
}
