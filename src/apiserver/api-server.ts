/**
 * The server itself: the event log behind HTTP, and the control API in front of both. `start.ts` decides
 * whether it runs in this thread, in a worker or in a process.
 */

import { realTimers } from '../base/clock.ts';
import { KubeloomError } from '../base/errors.ts';
import type { Collection } from './collection.ts';
import { Connections } from './connections.ts';
import type { ApplyResult, Change, ObjectLike, ServerControl } from './control.ts';
import { EventLog } from './event-log.ts';
import { FaultEngine } from './fault-engine.ts';
import { FaultPort } from './fault-port.ts';
import type { FaultPortAddress } from './fault-port.ts';
import type { FaultScenario, LandedFault } from './fault-rules.ts';
import type { JournalColumns } from './journal.ts';
import type { KubeObject } from './json.ts';
import type { Endpoint } from './kubeconfig.ts';
import { Listener } from './listener.ts';
import { LoadGenerator, SAMPLE_NAMESPACES, populate, sampleNamespace } from './load.ts';
import type { LoadOptions, LoadReport, PopulateOptions } from './load.ts';
import { resolveOptions } from './options.ts';
import type { ApiServerOptions, ResolvedOptions } from './options.ts';
import { RequestLog } from './request-log.ts';
import type { RequestRecord } from './request-log.ts';
import { ResourceTable } from './resources.ts';
import type { ResourceDefinition } from './resources.ts';
import { RequestRouter } from './router.ts';
import { StatusError, alreadyExists } from './status.ts';
import { keyOf } from './stored-object.ts';
import { Watches } from './watches.ts';
import type { DropMode, WatchInfo } from './watches.ts';
import { StoredObjectWriter } from './writer.ts';

const DEFAULT_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export class ApiServer implements ServerControl {
  readonly #options: ResolvedOptions;
  readonly #log: EventLog;
  readonly #table = new ResourceTable();
  readonly #writer: StoredObjectWriter;
  readonly #watches: Watches;
  readonly #engine = new FaultEngine();
  readonly #faultPort = new FaultPort(this.#engine);
  readonly #requests = new RequestLog();
  readonly #listener: Listener;
  #load: LoadGenerator | undefined;

  constructor(options: ApiServerOptions) {
    this.#options = resolveOptions(options);
    const { historyEventsMax: eventsMax, historyBytesMax: bytesMax, firstRevision } = this.#options;
    this.#log = new EventLog({ eventsMax, bytesMax }, firstRevision);
    this.#writer = new StoredObjectWriter(this.#log, this.#collection('namespaces'));
    const connections = new Connections();
    this.#watches = new Watches(this.#options, this.#log, connections);
    for (const definition of this.#options.resources) this.#table.register(definition);
    const services = {
      options: this.#options,
      log: this.#log,
      writer: this.#writer,
      watches: this.#watches,
      connections,
      engine: this.#engine,
    };
    const router = new RequestRouter(services, this.#table, this.#requests);
    this.#listener = new Listener(this.#options, connections, (request, response) =>
      router.handle(request, response),
    );
    for (const name of DEFAULT_NAMESPACES) this.#writer.ensureNamespace(name);
  }

  /** Listens, and resolves with the address. */
  async listen(): Promise<Endpoint> {
    await this.#listener.listen();
    return { url: this.#listener.url, token: this.#options.token, ca: this.#listener.ca };
  }

  registerResource(definition: ResourceDefinition): void {
    this.#table.register(definition);
  }

  apply(changes: readonly Change[]): ApplyResult {
    const resourceVersions = changes.map((change) => {
      try {
        return this.#applyOne(change);
      } catch (error) {
        if (error instanceof StatusError) throw new KubeloomError('ERR_KUBELOOM_REJECTED', error.message);
        throw error;
      }
    });
    return { revision: this.#log.revision, resourceVersions };
  }

  populate(options: PopulateOptions): number {
    const collection = this.#collection(options.resource ?? 'pods');
    const namespaces = options.namespaces ?? SAMPLE_NAMESPACES;
    for (let index = 0; index < namespaces; index++)
      this.#writer.ensureNamespace(sampleNamespace(index, namespaces));
    return populate(this.#log, collection, { ...options, namespaces });
  }

  async load(options: LoadOptions): Promise<LoadReport> {
    if (this.#load?.running === true) {
      throw new KubeloomError('ERR_KUBELOOM_LOAD_RUNNING', 'a load is running: await it or stopLoad() first');
    }
    const collection = this.#collection(options.resource ?? 'pods');
    this.#load = new LoadGenerator(this.#log, collection, () => this.#watches.backlogMax(), options);
    return this.#load.run();
  }

  loadIssued(): number {
    return this.#load?.issued ?? 0;
  }

  stopLoad(): void {
    this.#load?.stop();
  }

  revision(): number {
    return this.#log.revision;
  }

  journal(resource: string, fromRevision: number): JournalColumns {
    return this.#collection(resource).journal.columns(fromRevision);
  }

  state(resource: string): Map<string, string> {
    const collection = this.#collection(resource);
    return new Map(collection.keys().map((key) => [key, String(collection.get(key)?.revision ?? '')]));
  }

  compact(revision: number = this.#log.revision): number {
    this.#log.compact(revision);
    return revision;
  }

  watches(): WatchInfo[] {
    return this.#watches.info();
  }

  waitForWatches(count: number): Promise<void> {
    return this.#watches.reached(count);
  }

  sendBookmarks(): number {
    return this.#watches.sendBookmarks();
  }

  dropWatches(how: DropMode): number {
    return this.#watches.drop(how);
  }

  expireWatches(): number {
    return this.#watches.expire();
  }

  async restart(downMs: number): Promise<void> {
    await this.#listener.stop();
    await new Promise((resolve) => realTimers.setTimeout(resolve, downMs));
    await this.#listener.listen();
  }

  setFaults(scenario: FaultScenario): void {
    this.#engine.set(scenario);
  }

  healFaults(faultId?: string): void {
    this.#engine.heal(faultId);
  }

  landedFaults(): LandedFault[] {
    return this.#engine.landed;
  }

  openFaultPort(): Promise<FaultPortAddress> {
    return this.#faultPort.open();
  }

  requests(): RequestRecord[] {
    return this.#requests.all();
  }

  clearRequests(): void {
    this.#requests.clear();
  }

  async close(): Promise<void> {
    this.#load?.stop();
    this.#engine.heal();
    await this.#faultPort.close();
    this.#watches.close();
    await this.#listener.stop();
  }

  #collection(resource: string): Collection {
    return this.#log.collection(this.#table.named(resource));
  }

  #applyOne(change: Change): string {
    const collection = this.#collection(change.resource);
    const { definition } = collection;
    if (change.type === 'delete') {
      const namespace = definition.namespaced ? (change.namespace ?? 'default') : '';
      const key = keyOf(namespace, change.name);
      return String(this.#writer.delete(collection, key, change.name, { trusted: true }).object.revision);
    }
    const object = toKubeObject(change.object);
    const { name = '', namespace = 'default' } = object.metadata;
    const key = keyOf(definition.namespaced ? namespace : '', name);
    const exists = collection.get(key) !== undefined;
    if (change.type === 'create' && exists) throw alreadyExists(definition, name);
    const create = change.type === 'create' || (change.type === 'put' && !exists);
    const stored = create
      ? this.#writer.create(collection, namespace, object, { trusted: true })
      : this.#writer.update(collection, key, object, 'everything', { trusted: true });
    return String(stored.revision);
  }
}

/** Converts through JSON, like a request body: dates become strings and undefined disappears. */
function toKubeObject(object: ObjectLike): KubeObject {
  const plain = JSON.parse(JSON.stringify(object)) as Partial<KubeObject>;
  return { ...plain, metadata: plain.metadata ?? {} };
}
