/**
 * What `startEmbeddedApiServer` returns: where the server is, how to connect, and everything a test may do to it.
 * The methods are the same whether the server runs in a thread, a process or right here.
 */

import type { ApplyResult, Change } from './control.ts';
import type { FaultPortAddress } from './fault-port.ts';
import type { FaultScenario, LandedFault } from './fault-rules.ts';
import type { FaultRule, RequestRecord } from './faults.ts';
import { JournalView } from './journal.ts';
import { kubeConfigOf, kubeConfigYaml } from './kubeconfig.ts';
import type { Endpoint, KubeConfigObject } from './kubeconfig.ts';
import type { LoadOptions, LoadReport, PopulateOptions } from './load.ts';
import type { Call } from './remote.ts';
import { serverClosed, serverStarted } from './running.ts';
import type { ResourceDefinition } from './resources.ts';
import type { DropMode, WatchInfo } from './watches.ts';

export class EmbeddedApiServer implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** '' when the server lets everybody in. */
  readonly token: string;
  /** The CA certificate, PEM; '' without TLS. */
  readonly ca: string;
  /** The same in base64, as kubeconfigs have it. */
  readonly caData: string;
  readonly kubeConfig: KubeConfigObject;
  readonly kubeConfigYaml: string;
  readonly #call: Call;
  readonly #end: () => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(endpoint: Endpoint, call: Call, end: () => Promise<void>) {
    this.url = endpoint.url;
    this.port = Number(new URL(endpoint.url).port);
    this.token = endpoint.token;
    this.ca = endpoint.ca;
    this.caData = Buffer.from(endpoint.ca).toString('base64');
    this.kubeConfig = kubeConfigOf(endpoint);
    this.kubeConfigYaml = kubeConfigYaml(this.kubeConfig);
    this.#call = call;
    this.#end = end;
    serverStarted(this);
  }

  /** Serves one more resource, e.g. `{ group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true, custom: true }`. */
  registerResource(definition: ResourceDefinition): Promise<void> {
    return this.#call('registerResource', definition);
  }

  /** Creates, updates and deletes objects without HTTP, all or up to the first that is rejected, in order. */
  apply(changes: readonly Change[]): Promise<ApplyResult> {
    return this.#call('apply', changes);
  }

  /** Creates sample objects; resolves with the revision of the last. */
  populate(options: PopulateOptions): Promise<number> {
    return this.#call('populate', options);
  }

  /** Runs a load to its end and reports exactly what was issued. */
  load(options: LoadOptions): Promise<LoadReport> {
    return this.#call('load', options);
  }

  /** How many events the running (or last) load has issued so far. */
  loadIssued(): Promise<number> {
    return this.#call('loadIssued');
  }

  stopLoad(): Promise<void> {
    return this.#call('stopLoad');
  }

  /** Of the last change. */
  revision(): Promise<number> {
    return this.#call('revision');
  }

  /** Everything that happened to a resource after a revision, however long ago: the oracle of the tests. */
  async log(resource: string, fromRevision: number = 0): Promise<JournalView> {
    return new JournalView(await this.#call('journal', resource, fromRevision));
  }

  /** Key (`namespace/name`, or `name`) to resourceVersion of every object there is. */
  state(resource: string): Promise<Map<string, string>> {
    return this.#call('state', resource);
  }

  /** Forgets history up to and including a revision (default: all of it). Resolves with that revision. */
  compact(revision?: number): Promise<number> {
    return revision === undefined ? this.#call('compact') : this.#call('compact', revision);
  }

  /** The open watches. */
  watches(): Promise<WatchInfo[]> {
    return this.#call('watches');
  }

  /** Resolves when at least so many watches are open: what tests wait for instead of sleeping. */
  waitForWatches(count: number): Promise<void> {
    return this.#call('waitForWatches', count);
  }

  /** A bookmark on every watch that allows them, now. */
  sendBookmarks(): Promise<number> {
    return this.#call('sendBookmarks');
  }

  /** Breaks every watch; resolves with how many there were. */
  dropWatches(options: { readonly how: DropMode }): Promise<number> {
    return this.#call('dropWatches', options.how);
  }

  /** Sends every watch the 410 inside the stream and ends it. */
  expireWatches(): Promise<number> {
    return this.#call('expireWatches');
  }

  /** Stops listening, cuts all connections, and listens again on the same port with the same data. */
  restart(options: { readonly downMs?: number } = {}): Promise<void> {
    return this.#call('restart', options.downMs ?? 0);
  }

  /** The next requests that match get an error instead of an answer. */
  failNext(rule: FaultRule): Promise<void> {
    return this.#call('failNext', rule);
  }

  clearFaults(): Promise<void> {
    return this.#call('clearFaults');
  }

  /** Adds rules by which requests and streams fail, until they have struck as often as they say or are healed. */
  setFaults(scenario: FaultScenario): Promise<void> {
    return this.#call('setFaults', scenario);
  }

  /** Ends one fault, or all. */
  healFaults(faultId?: string): Promise<void> {
    return faultId === undefined ? this.#call('healFaults') : this.#call('healFaults', faultId);
  }

  /** What the rules have struck, oldest first (the last 10,000). */
  landedFaults(): Promise<LandedFault[]> {
    return this.#call('landedFaults');
  }

  /** The same by HTTP for other processes: a port on loopback and the token it wants. */
  openFaultPort(): Promise<FaultPortAddress> {
    return this.#call('openFaultPort');
  }

  /** What was requested, oldest first (the last 10,000). */
  requests(): Promise<RequestRecord[]> {
    return this.#call('requests');
  }

  clearRequests(): Promise<void> {
    return this.#call('clearRequests');
  }

  close(): Promise<void> {
    serverClosed(this);
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
