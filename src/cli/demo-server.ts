/**
 * What the demo runs against: where the server is, the load it puts on, and afterwards the truth. With a
 * rate it is the embedded apiserver, with the rate `max` the high-rate source; both in another process.
 */
import type { EmbeddedApiServer } from '../embedded/embedded-server.ts';
import type { JournalEntry } from '../embedded/journal.ts';
import { startEmbeddedApiServer } from '../embedded/start.ts';
import { resourcePath } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { ConnectionOptions } from '../threads/protocol.ts';
import { ApiClient } from './api-get.ts';

export const PODS: ResourceRef = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  isNamespaced: true,
};

/** What really happened and what there is now, from the server's own mouth. */
export interface Truth {
  readonly journal: Iterable<JournalEntry>;
  /** Changes after the informer's list. */
  readonly changes: number;
  /** Key to resourceVersion of everything there is. */
  readonly state: ReadonlyMap<string, string>;
  /** The objects that were asked for, as the server sends them now. */
  readonly bytes: ReadonlyMap<string, Buffer>;
}

export interface DemoServer extends AsyncDisposable {
  /** JSON, as client-node's loadFromString takes it. */
  readonly kubeConfig: string;
  /** The revision of the informer's list: what comes after is counted as changes. */
  readonly listedAt: number;
  /** Puts the load on; resolves with the number of changes when all have been issued. */
  load(): Promise<number>;
  /** Changes issued so far; undefined when the server does not say. */
  issued(): Promise<number | undefined>;
  /** Once there is no load any more. */
  truth(sample: ReadonlySet<string>, signal: AbortSignal): Promise<Truth>;
}

export interface RatedLoad {
  readonly pods: number;
  readonly objectBytes: number;
  readonly rate: number;
  readonly durationSeconds: number;
}

/** Most pods stay and change; some come and go. */
const MIX = { update: 90, create: 5, delete: 5 };
const HISTORY_EVENTS_MAX = 100_000_000;
const HISTORY_BYTES_MAX = 4 * 2 ** 30;

/** The embedded apiserver and its load generator: every change is written by the clock. */
export class RatedServer implements DemoServer {
  readonly kubeConfig: string;
  readonly listedAt: number;
  readonly #server: EmbeddedApiServer;
  readonly #load: RatedLoad;

  private constructor(server: EmbeddedApiServer, load: RatedLoad, listedAt: number) {
    this.#server = server;
    this.#load = load;
    this.listedAt = listedAt;
    this.kubeConfig = JSON.stringify(server.kubeConfig);
  }

  static async start(load: RatedLoad): Promise<RatedServer> {
    const server = await startEmbeddedApiServer({
      isolation: 'process',
      // A watch that was cut must find its place again: a relist would merge events, and each is counted.
      historyEventsMax: HISTORY_EVENTS_MAX,
      historyBytesMax: HISTORY_BYTES_MAX,
      watchBacklogEventsMax: HISTORY_EVENTS_MAX,
    });
    const listedAt = await server.populate({ count: load.pods, objectBytes: load.objectBytes });
    return new RatedServer(server, load, listedAt);
  }

  async load(): Promise<number> {
    const { rate, durationSeconds, objectBytes } = this.#load;
    const { issued } = await this.#server.load({
      rate,
      objectBytes,
      durationMs: durationSeconds * 1000,
      mix: MIX,
    });
    return issued;
  }

  issued(): Promise<number> {
    return this.#server.loadIssued();
  }

  async truth(sample: ReadonlySet<string>, signal: AbortSignal): Promise<Truth> {
    const [state, journal, after] = await Promise.all([
      this.#server.state(PODS.resource),
      this.#server.log(PODS.resource),
      this.#server.log(PODS.resource, this.listedAt),
    ]);
    return { journal, changes: after.length, state, bytes: await this.#fetch(sample, signal) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.close();
  }

  async #fetch(keys: ReadonlySet<string>, signal: AbortSignal): Promise<Map<string, Buffer>> {
    const { url, ca, token } = this.#server;
    const connection: ConnectionOptions = { server: url, ca, headers: { authorization: `Bearer ${token}` } };
    await using client = new ApiClient(connection, signal);
    const found = new Map<string, Buffer>();
    for (const key of keys) {
      const [namespace = '', name = ''] = key.split('/');
      found.set(key, await client.get(`${resourcePath(PODS, namespace)}/${encodeURIComponent(name)}`));
    }
    return found;
  }
}
