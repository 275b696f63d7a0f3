/**
 * The result of `startEmbeddedApiServer`: the server's address, the credentials, and the control API for
 * tests. The methods are the same whether the server runs in a thread, in a process or in the calling thread. They reject
 * with ERR_KUBELOOM_OPTION for a wrong argument.
 */

import { integer, text } from '../../../base/option-checks.ts';
import type { ApplyResult, Change } from './api-server.ts';
import { CONTROL_ARGUMENTS } from './control-arguments.ts';
import type { FaultPortAddress } from '../faults/fault-port.ts';
import type { ServerConnection } from '../../../kube/server-source.ts';
import type { FaultScenario, LandedFault } from '../faults/fault-rules.ts';
import { JournalView } from '../store/journal.ts';
import { connectionOf, kubeConfigOf, kubeConfigYaml } from '../wire/kubeconfig.ts';
import type { ServerEndpoint, KubeConfigObject } from '../wire/kubeconfig.ts';
import type { LoadOptions, LoadReport, PopulateOptions } from '../load/load.ts';
import type { RemoteCall } from './remote.ts';
import type { RbacOptions } from '../wire/rights.ts';
import type { RequestRecord } from '../wire/request-log.ts';
import type { ResourceDefinition } from '../store/resources.ts';
import type { DropMode, WatchInfo } from '../serve/watches.ts';

/** The servers of this process by origin, so that `settled` finds the server of an informer. */
const running: Map<string, EmbeddedApiServer> = new Map();

/** @param url with or without a path */
export function runningServer(url: string): EmbeddedApiServer | undefined {
  return URL.canParse(url) ? running.get(new URL(url).origin) : undefined;
}

/** An apiserver in this process or another process, for tests: it serves, validates and stores as a cluster does. */
export class EmbeddedApiServer implements AsyncDisposable {
  /** `http://127.0.0.1:34567`; `https` with TLS. */
  readonly url: string;
  /** Port of `url`. */
  readonly port: number;
  /** The bearer token; '' if the server requires no token. */
  readonly token: string;
  /** The CA certificate, PEM; '' without TLS. */
  readonly ca: string;
  /** The CA certificate in base64, as in kubeconfigs. */
  readonly caData: string;
  /** The address, token and authorities, which an informer accepts in place of a KubeConfig. */
  readonly connection: ServerConnection;
  /** A connection for the test itself: `rbac()` leaves out the rights that its requests need. */
  readonly admin: ServerConnection;
  /** A kubeconfig for the server, with the token and the CA; client-node's `loadFromString` accepts its JSON. */
  readonly kubeConfig: KubeConfigObject;
  /** `kubeConfig` as YAML, for kubectl. */
  readonly kubeConfigYaml: string;
  readonly #call: RemoteCall;
  readonly #end: () => Promise<void>;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(endpoint: ServerEndpoint, call: RemoteCall, end: () => Promise<void>) {
    this.url = endpoint.url;
    this.port = Number(new URL(endpoint.url).port);
    this.token = endpoint.token;
    this.ca = endpoint.ca;
    this.caData = Buffer.from(endpoint.ca).toString('base64');
    this.connection = connectionOf(endpoint);
    this.admin = connectionOf({ ...endpoint, token: endpoint.adminToken });
    this.kubeConfig = kubeConfigOf(endpoint);
    this.kubeConfigYaml = kubeConfigYaml(this.kubeConfig);
    this.#call = call;
    this.#end = end;
    running.set(new URL(this.url).origin, this);
  }

  /**
   * Adds a resource, e.g. `{ group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget',
   * namespaced: true, custom: true }`.
   */
  async registerResource(definition: ResourceDefinition): Promise<void> {
    CONTROL_ARGUMENTS.resource(definition);
    return this.#call('registerResource', definition);
  }

  /** Creates, updates and deletes objects without HTTP, in order, up to the first change that is rejected. */
  async apply(changes: readonly Change[]): Promise<ApplyResult> {
    CONTROL_ARGUMENTS.changes(changes);
    return this.#call('apply', changes);
  }

  /** Creates sample objects; resolves with the revision of the last object. */
  async populate(options: PopulateOptions): Promise<number> {
    CONTROL_ARGUMENTS.populate(options);
    return this.#call('populate', options);
  }

  /** Runs a load to the end; the report counts exactly the issued events. */
  async load(options: LoadOptions): Promise<LoadReport> {
    CONTROL_ARGUMENTS.load(options);
    return this.#call('load', options);
  }

  /** Number of events that the running or the last load issued. */
  loadIssued(): Promise<number> {
    return this.#call('loadIssued');
  }

  /** Ends the running load; the promise of `load` resolves with the report. No effect without a load. */
  stopLoad(): Promise<void> {
    return this.#call('stopLoad');
  }

  /** Revision of the last change. */
  revision(): Promise<number> {
    return this.#call('revision');
  }

  /** Every event of a resource after a revision, without a limit of age, for tests that compare clients. */
  async log(resource: string, fromRevision: number = 0): Promise<JournalView> {
    text('resource', resource);
    integer(0)('fromRevision', fromRevision);
    return new JournalView(await this.#call('journal', resource, fromRevision));
  }

  /** Returns a map from the key (`namespace/name`, or `name`) to the resourceVersion of every current object. */
  async state(resource: string): Promise<Map<string, string>> {
    text('resource', resource);
    return this.#call('state', resource);
  }

  /** Forgets the history up to and including a revision (default: all of it). Resolves with that revision. */
  async compact(revision?: number): Promise<number> {
    if (revision !== undefined) integer(0)('revision', revision);
    return this.#call('compact', revision);
  }

  /** The open watches. */
  watches(): Promise<WatchInfo[]> {
    return this.#call('watches');
  }

  /** Resolves when at least `count` watches are open. Use it instead of sleeping. */
  async waitForWatches(count: number): Promise<void> {
    integer(0)('count', count);
    return this.#call('waitForWatches', count);
  }

  /** Sends a bookmark on every watch that allows bookmarks. Resolves with the number of open watches. */
  sendBookmarks(): Promise<number> {
    return this.#call('sendBookmarks');
  }

  /** Breaks every watch; resolves with their number. */
  async dropWatches(options: { readonly how: DropMode }): Promise<number> {
    CONTROL_ARGUMENTS.drop(options);
    return this.#call('dropWatches', options.how);
  }

  /** Sends every watch a 410 inside the stream and ends it. */
  expireWatches(): Promise<number> {
    return this.#call('expireWatches');
  }

  /** Stops listening, cuts all connections, and listens again on the same port with the same data. */
  async restart(options: { readonly downMs?: number } = {}): Promise<void> {
    CONTROL_ARGUMENTS.restart(options);
    return this.#call('restart', options.downMs ?? 0);
  }

  /**
   * Adds rules by which requests and streams fail. A rule ends after striking `times` requests, or when it is healed.
   */
  async setFaults(scenario: FaultScenario): Promise<void> {
    CONTROL_ARGUMENTS.scenario(scenario);
    return this.#call('setFaults', scenario);
  }

  /** Ends a fault, or all. */
  async healFaults(faultId?: string): Promise<void> {
    if (faultId !== undefined) text('faultId', faultId);
    return this.#call('healFaults', faultId);
  }

  /** The faults that have struck, oldest first (the last 10,000). */
  landedFaults(): Promise<LandedFault[]> {
    return this.#call('landedFaults');
  }

  /** Opens the faults to other processes by HTTP: a port on loopback, and the token that it requires. */
  openFaultPort(): Promise<FaultPortAddress> {
    return this.#call('openFaultPort');
  }

  /** The requests that were received, oldest first (the last 10,000). */
  requests(): Promise<RequestRecord[]> {
    return this.#call('requests');
  }

  /** Forgets the requests, and the rights that they need. */
  clearRequests(): Promise<void> {
    return this.#call('clearRequests');
  }

  /**
   * Returns the ClusterRole and the Roles that the program needs in a cluster, as YAML, sorted: a test compares it with a
   * file. They follow from the requests so far, except those of `admin`: what a program watches in all namespaces it may write
   * in all namespaces, a Lease is renewed, an Event is counted. Empty if no resources were requested.
   */
  async rbac(options: RbacOptions = {}): Promise<string> {
    CONTROL_ARGUMENTS.rbac(options);
    return this.#call('rbac', options);
  }

  /**
   * Ends loads, faults and watches, cuts all connections, and ends the thread or process of the server. May be called
   * twice.
   */
  close(): Promise<void> {
    running.delete(new URL(this.url).origin);
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** Closes the server. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
