/**
 * The demo's server: the embedded apiserver in another process, its load generator, and afterwards the server's
 * log and state, with which deliveries are compared.
 */
import type { EmbeddedApiServer } from '../apiserver/embedded-server.ts';
import type { JournalEntry } from '../apiserver/journal.ts';
import { startEmbeddedApiServer } from '../apiserver/start.ts';
import { resourcePath } from '../kube/resource.ts';
import type { ResourceRef } from '../kube/resource.ts';
import type { ServerConnection } from '../kube/server-source.ts';
import type { ConnectionOptions } from '../shared/protocol.ts';
import { ApiClient } from './api-get.ts';

export const PODS: ResourceRef = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  isNamespaced: true,
};

/** The server's log of changes and its current state. */
export interface Truth {
  readonly journal: Iterable<JournalEntry>;
  /** Changes after the informer's list. */
  readonly changes: number;
  /** Key to resourceVersion of every object. */
  readonly state: ReadonlyMap<string, string>;
  /** The requested objects, as the server sends them now. */
  readonly bytes: ReadonlyMap<string, Buffer>;
}

export interface DemoLoad {
  readonly pods: number;
  readonly objectBytes: number;
  readonly rate: number;
  readonly durationSeconds: number;
}

/** Most pods stay and change; some come and go. */
const MIX = { update: 90, create: 5, delete: 5 };
const HISTORY_EVENTS_MAX = 100_000_000;
const HISTORY_BYTES_MAX = 4 * 2 ** 30;

/** The embedded apiserver and its load generator, which writes changes at a fixed rate. */
export class DemoServer implements AsyncDisposable {
  readonly connection: ServerConnection;
  /** Revision of the informer's list; later revisions count as changes. */
  readonly listedAt: number;
  readonly #server: EmbeddedApiServer;
  readonly #load: DemoLoad;

  private constructor(server: EmbeddedApiServer, load: DemoLoad, listedAt: number) {
    this.#server = server;
    this.#load = load;
    this.listedAt = listedAt;
    this.connection = server.connection;
  }

  static async start(load: DemoLoad): Promise<DemoServer> {
    const server = await startEmbeddedApiServer({
      isolation: 'process',
      // An interrupted watch must be able to resume: a relist would combine events, and each is counted.
      historyEventsMax: HISTORY_EVENTS_MAX,
      historyBytesMax: HISTORY_BYTES_MAX,
      watchBacklogEventsMax: HISTORY_EVENTS_MAX,
    });
    const listedAt = await server.populate({ count: load.pods, objectBytes: load.objectBytes });
    return new DemoServer(server, load, listedAt);
  }

  /** Writes the changes; resolves with their number. */
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

  /** Changes written so far. */
  issued(): Promise<number> {
    return this.#server.loadIssued();
  }

  /** The server's log and state. Call it after the load. */
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
