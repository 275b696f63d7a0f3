/**
 * A mirror: one process lists and watches resources of a cluster, the origin, and serves LIST and WATCH of them to any
 * number of Kubernetes clients on the same machine. The origin sees one watch for each resource.
 *
 *   origin ──► reflector ──► MirroredCollection ──► history, snapshots ──► HTTP of the embedded apiserver ──► clients
 *
 * It is read-only. Who may connect may read everything that the mirror's own credentials may read.
 */

import type { Collection } from '../apiserver/event-log.ts';
import { EventLog } from '../apiserver/event-log.ts';
import { FaultEngine } from '../apiserver/fault-rules.ts';
import type { KubeObject } from '../apiserver/json.ts';
import type { Endpoint } from '../apiserver/kubeconfig.ts';
import { Listener } from '../apiserver/listener.ts';
import { serveRead } from '../apiserver/reads.ts';
import type { Call, ResourcePath } from '../apiserver/request-info.ts';
import { RequestLog } from '../apiserver/request-log.ts';
import { ResourceTable, builtInDefinitions, definitionOf } from '../apiserver/resources.ts';
import type { ServedResource } from '../apiserver/resources.ts';
import { handleRequest } from '../apiserver/router.ts';
import { failureOf, methodNotAllowed, qualifiedName, unknownResource } from '../apiserver/status.ts';
import type { StatusError } from '../apiserver/status.ts';
import { Watches } from '../apiserver/watches.ts';
import { KubeloomError, messageOf } from '../base/errors.ts';
import { Reflector, newListWatchFromClient } from '../client-go/index.ts';
import type { BackoffOptions } from '../client-go/index.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { ServerSource } from '../kube/server-source.ts';
import { MirroredCollection } from './mirrored-collection.ts';
import { freeSocketPath } from './socket-path.ts';

/** Where a mirror listens: a Unix socket that only its owner can open, or TLS on a port of loopback, with a token. */
export type MirrorAddress =
  | { readonly socketPath: string }
  | { readonly port: number; readonly token: string };

export interface MirrorOptions {
  /** The origin. */
  readonly source: ServerSource;
  readonly resources: readonly ResourceRef[];
  readonly address: MirrorAddress;
  /** Bytes of the events that each resource keeps for watches that resume or are behind. Default 64 MiB. */
  readonly historyBytesMax?: number;
  /** How long a read waits for a version that the origin has not sent yet. Default 3,000, as in the real server. */
  readonly freshnessTimeoutMs?: number;
  /** Delays before a failed list or watch of the origin is repeated. Default: client-go's. */
  readonly backoff?: BackoffOptions;
  /** Called for every failure of a list or watch of the origin, which is repeated. */
  readonly onError: (error: KubeloomError) => void;
}

const SERVING = {
  bookmarkIntervalMs: 60_000,
  watchTimeoutMs: 1_800_000,
  // A watch ends when the history has forgotten what its client has not read.
  watchBacklogEventsMax: Number.POSITIVE_INFINITY,
  expiredWatch: 'event',
  sharding: 'echoes',
} as const;
const HISTORY_BYTES_MAX = 64 * 1024 * 1024;
const FRESHNESS_TIMEOUT_MS = 3_000;
const LOOPBACK = '127.0.0.1';
const VERBS: readonly string[] = ['get', 'list', 'watch'];
const READ_ONLY = ': it is a read-only mirror, which serves get, list and watch; write to the cluster itself';
/** The real server answers so, too, until its watch cache is filled. */
const NOT_SYNCED = 'storage is (re)initializing: the mirror has not received the first list';

export class Mirror implements AsyncDisposable {
  readonly #options: MirrorOptions;
  readonly #listener: Listener;
  readonly #watches: Watches;
  readonly #table: ResourceTable;
  readonly #mirrored = new Map<ServedResource, MirroredCollection>();
  readonly #ended = new AbortController();
  readonly #freshnessTimeoutMs: number;
  #runs: readonly Promise<void>[] = [];

  constructor(options: MirrorOptions) {
    const { address, resources, freshnessTimeoutMs = FRESHNESS_TIMEOUT_MS } = options;
    const { token } = wantedPort(address);
    this.#options = options;
    this.#freshnessTimeoutMs = freshnessTimeoutMs;
    this.#table = new ResourceTable([]);
    for (const ref of resources) this.#table.register(definitionFor(ref));
    const requests = new RequestLog();
    const listener = new Listener({ host: LOOPBACK, ...wantedPort(address) }, (request, response) =>
      handleRequest(front, request, response),
    );
    this.#listener = listener;
    this.#watches = new Watches({ ...SERVING, freshnessTimeoutMs }, listener);
    for (const definition of this.#table.all()) this.#mirrored.set(definition, this.#mirror(definition));
    const engine = new FaultEngine();
    const front = {
      options: { token },
      table: this.#table,
      requests,
      collectionOf: (definition: ServedResource): Collection => this.#of(definition).collection,
      faultsOf: (facts: Call['faults']['facts']): Promise<Call['faults']> =>
        Promise.resolve({ facts, engine, view: undefined, listMetadata: {}, versions: undefined }),
      notServed: (path: ResourcePath): StatusError => this.#notServed(path),
      connectionOf: (): number => 0,
      serve: (call: Call): Promise<void> => this.#serve(call),
    };
  }

  /**
   * Listens, and begins to list and watch. Until the first list of a resource has arrived, reads of it are answered with
   * 429 and `Retry-After`.
   *
   * @throws ERR_KUBELOOM_USAGE when the address cannot be used
   */
  async start(): Promise<Endpoint> {
    const { address } = this.#options;
    if ('socketPath' in address) await freeSocketPath(address.socketPath);
    try {
      await this.#listener.listen();
    } catch (cause) {
      const message = `the mirror cannot listen: ${messageOf(cause)}; choose another address`;
      throw new KubeloomError('ERR_KUBELOOM_USAGE', message, { cause });
    }
    this.#runs = [...this.#mirrored].map(([definition, store]) => this.#run(definition, store));
    return { url: this.#listener.url, token: wantedPort(address).token, ca: this.#listener.ca };
  }

  /** Ends all watches, and resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.#watches.close();
    await Promise.all([this.#listener.stop(), ...this.#runs]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Every resource has a log of its own, because each of their watches moves forward on its own. */
  #mirror(definition: ServedResource): MirroredCollection {
    const { historyBytesMax = HISTORY_BYTES_MAX } = this.#options;
    const limits = { eventsMax: Number.POSITIVE_INFINITY, bytesMax: historyBytesMax, keepsJournal: false };
    const log = new EventLog(limits, 0);
    const collection = log.collection(definition);
    return new MirroredCollection({ log, collection, endWatches: () => this.#watches.end(collection) });
  }

  #of(definition: ServedResource): MirroredCollection {
    const found = this.#mirrored.get(definition);
    if (found === undefined) throw unknownResource();
    return found;
  }

  async #run(definition: ServedResource, store: MirroredCollection): Promise<void> {
    const { source, onError, backoff } = this.#options;
    const ref = { ...definition, isNamespaced: definition.namespaced };
    const listWatch = newListWatchFromClient<KubeObject>(source, ref);
    const reflector = new Reflector<KubeObject>(listWatch, undefined, store, {
      name: `mirror of ${qualifiedName(definition)}`,
      watchErrorHandler: onError,
      ...(backoff === undefined ? {} : { backoff }),
    });
    await reflector.run(this.#ended.signal);
  }

  async #serve(call: Call): Promise<void> {
    const { path, request, collection } = call;
    const { definition } = collection;
    if (path.subresource !== '' || (path.namespace !== '' && !definition.namespaced)) throw unknownResource();
    if (request.method !== 'GET') throw methodNotAllowed(READ_ONLY);
    if (!this.#of(definition).hasSynced) throw failureOf(429, NOT_SYNCED, 1);
    const options = { ...SERVING, freshnessTimeoutMs: this.#freshnessTimeoutMs };
    await serveRead({ options, watches: this.#watches }, call);
  }

  #notServed({ group, resource }: ResourcePath): StatusError {
    const asked = group === '' ? resource : `${resource}.${group}`;
    const served = this.#table.all().map(qualifiedName).join(', ');
    return failureOf(404, `the mirror does not serve ${asked}, only ${served}; ask the cluster itself`);
  }
}

function wantedPort(address: MirrorAddress): {
  readonly socketPath: string;
  readonly port: number;
  readonly token: string;
  readonly tls: boolean;
} {
  if ('socketPath' in address) return { ...address, port: 0, token: '', tls: false };
  if (address.token !== '') return { ...address, socketPath: '', tls: true };
  const message = 'a mirror on a port needs a token, because every user of the machine can connect to it';
  throw new KubeloomError('ERR_KUBELOOM_USAGE', message);
}

/** Built-in resources have their selectable fields; all others are custom resources. Subresources are not served. */
function definitionFor(ref: ResourceRef): ServedResource {
  const known = builtInDefinitions().find(
    ({ group, version, resource }) =>
      group === ref.group && version === ref.version && resource === ref.resource,
  );
  const { status: _, scale: __, ...facts } = known ?? definitionOf(ref, { custom: true });
  return { ...facts, verbs: VERBS };
}
