/** An origin, a mirror of it, and the wait until the mirror has what the origin has. */
import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Endpoint } from '../../../src/apiserver/kubeconfig.ts';
import { startEmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import type { Change, EmbeddedApiServer } from '../../../src/apiserver/testing/index.ts';
import { SharedIndexInformer, resourcePath, resources, waitForCacheSync } from '../../../src/index.ts';
import type { ResourceRef, ServerConnection } from '../../../src/index.ts';
import { Mirror } from '../../../src/mirror/mirror.ts';
import type { MirrorOptions } from '../../../src/mirror/mirror.ts';
import { Client } from '../../semantics/client.ts';

const CONFIG_MAPS: ResourceRef = resources.core.v1.configMaps;

export function startOrigin(): Promise<EmbeddedApiServer> {
  return startEmbeddedApiServer({ tls: false, isolation: 'none' });
}

/** Makes a mirror that listens on a free port, unless `more` has another address. */
export function mirrorOf(
  origin: EmbeddedApiServer,
  mirrored: readonly ResourceRef[],
  more: Partial<MirrorOptions> = {},
): Mirror {
  return new Mirror({
    source: origin.connection,
    resources: mirrored,
    address: { port: 0, token: 'the-token-of-the-mirror' },
    freshnessTimeoutMs: 50,
    backoff: { initialMs: 1, maxMs: 1, jitter: 0 },
    onError: () => {},
    ...more,
  });
}

/** Waits until the mirror has what the origin has, as any client can: with a read of that version. */
export async function received(mirror: Endpoint, origin: EmbeddedApiServer, ref: ResourceRef): Promise<void> {
  const version = `resourceVersion=${await origin.revision()}&resourceVersionMatch=NotOlderThan`;
  const client = new Client(mirror);
  do await origin.sendBookmarks();
  while ((await client.get(`${resourcePath(ref)}?limit=1&${version}`)).status !== 200);
}

export function putConfigMap(name: string, data: Readonly<Record<string, string>> = {}): Change {
  return { type: 'put', resource: 'configmaps', object: { metadata: { name }, data } as object };
}

/** Makes the origin forget its history and end its watches, so that the mirror lists again. */
export async function forgetHistory(origin: EmbeddedApiServer): Promise<void> {
  await origin.apply([
    {
      type: 'create',
      resource: 'namespaces',
      object: { metadata: { name: `later-${crypto.randomUUID()}` } },
    },
  ]);
  await origin.compact();
  await origin.expireWatches();
}

/** Informers of ConfigMaps at one server, which end with their scope. */
export class Readers implements AsyncDisposable {
  readonly #ended = new AbortController();
  readonly #informers: readonly SharedIndexInformer<V1ConfigMap>[];
  readonly #runs: readonly Promise<void>[];

  constructor(server: ServerConnection, count: number = 1) {
    const options = { threads: { shards: 0 }, backoff: { initialMs: 1, maxMs: 1 }, onError: () => {} };
    this.#informers = Array.from(
      { length: count },
      () => new SharedIndexInformer<V1ConfigMap>(server, CONFIG_MAPS, options),
    );
    this.#runs = this.#informers.map((informer) => informer.run(this.#ended.signal));
  }

  synced(): Promise<void> {
    return waitForCacheSync(this.#ended.signal, ...this.#informers);
  }

  /** Resolves when every informer has the state of the origin up to this version. */
  async reached(resourceVersion: string): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.waitForResourceVersion(resourceVersion)));
  }

  /** Returns key and version of all objects of each informer. */
  contents(): string[][] {
    return this.#informers.map((informer) =>
      informer
        .getStore()
        .list()
        .map(({ key, resourceVersion }) => `${key} ${resourceVersion}`)
        .toSorted(),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#runs);
  }
}

/** Returns key and version of all ConfigMaps of the origin. */
export async function stateOf(origin: EmbeddedApiServer): Promise<string[]> {
  return [...(await origin.state('configmaps'))]
    .map(([key, resourceVersion]) => `${key} ${resourceVersion}`)
    .toSorted();
}
