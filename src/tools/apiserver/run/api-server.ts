/**
 * The server itself: the event log behind HTTP, and the control API. `start.ts` decides whether it runs in this thread,
 * in a worker or in a process.
 */

import type { Duplex } from 'node:stream';
import { backgroundClock } from '../../../base/clock.ts';
import type { Clock } from '../../../base/clock.ts';
import { reviews } from '../serve/reviews.ts';
import { sleep } from '../../../base/sleep.ts';
import { KubeloomError } from '../../../base/errors.ts';
import { definitions } from '../crd/definition.ts';
import { builtInResources } from '../shapes/built-in-resources.ts';
import { ServedDefinitions } from '../serve/served-definitions.ts';
import type { Collection } from '../store/event-log.ts';
import { EventLog } from '../store/event-log.ts';
import { FaultEngine } from '../faults/fault-rules.ts';
import { FaultPort } from '../faults/fault-port.ts';
import type { FaultPortAddress } from '../faults/fault-port.ts';
import type { FaultScenario, LandedFault } from '../faults/fault-rules.ts';
import { GarbageCollector } from '../write/garbage-collector.ts';
import type { JournalColumns } from '../store/journal.ts';
import { writeJson } from '../store/json.ts';
import type { KubeObject } from '../store/json.ts';
import type { ServerEndpoint } from '../wire/kubeconfig.ts';
import { Listener } from '../wire/listener.ts';
import { LoadGenerator, SAMPLE_NAMESPACES, populate, sampleNamespace } from '../load/load.ts';
import type { LoadOptions, LoadReport, PopulateOptions } from '../load/load.ts';
import { NamespaceDeletion } from '../write/namespace-deletion.ts';
import { resolveOptions } from '../store/server-options.ts';
import type { ApiServerOptions } from '../store/server-options.ts';
import { RequestLog } from '../wire/request-log.ts';
import type { RequestRecord } from '../wire/request-log.ts';
import { Rights } from '../wire/rights.ts';
import type { RbacOptions } from '../wire/rights.ts';
import { ResourceTable } from '../store/resources.ts';
import { readDocument } from '../store/read-json.ts';
import type { ResourceDefinition } from '../store/resources.ts';
import { handleRequest } from '../serve/router.ts';
import { alreadyExists, refusalOf } from '../store/status.ts';
import { keyOf } from '../store/stored-object.ts';
import type { Services } from '../serve/verbs.ts';
import { Watches } from '../serve/watches.ts';
import type { DropMode, WatchInfo } from '../serve/watches.ts';
import { StoredObjectWriter } from '../write/writer.ts';

/** A type of client-node, or a literal with any members. */
type Open<Members> = Members | (Members & { readonly [member: string]: unknown });

/** Any object with metadata. */
export type ObjectLike = Open<{
  readonly metadata?:
    | Open<{ readonly name?: string | undefined; readonly namespace?: string | undefined }>
    | undefined;
}>;

/** A change; `put` creates or replaces. Resources are named as in kubectl: `pods`, `deployments.apps`. */
export type Change =
  | { readonly type: 'create' | 'update' | 'put'; readonly resource: string; readonly object: ObjectLike }
  | {
      readonly type: 'delete';
      readonly resource: string;
      readonly namespace?: string;
      readonly name: string;
    };

/** Result of the changes that a test applied. */
export interface ApplyResult {
  /** Revision of the log after the last change. */
  readonly revision: number;
  /** The resourceVersion of each change, in order. */
  readonly resourceVersions: readonly string[];
}

/** The methods of `EmbeddedApiServer`, in the server's own thread. */
export type ServerControl = ApiServer['control'];

/** The manager of fields that the control API changes in an object with managers. */
const CONTROL = { manager: 'kubeloom-testing', subresource: '' };
const DEFAULT_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export class ApiServer {
  readonly #services: Services;
  readonly #faultPort: FaultPort;
  #load: LoadGenerator | undefined;

  /** @param clock of everything but `load` and `restart` */
  constructor(given: ApiServerOptions, clock: Clock = backgroundClock) {
    const options = resolveOptions(given);
    const table = new ResourceTable([...builtInResources(), definitions(), ...reviews()]);
    const { historyEventsMax: eventsMax, historyBytesMax: bytesMax, firstRevision } = options;
    const log = new EventLog({ eventsMax, bytesMax }, firstRevision, clock);
    const listener = new Listener(options, (request, response) =>
      handleRequest(this.#services, request, response),
    );
    const namespaces = log.collection(table.named('namespaces'));
    // Events of both groups are the same objects, as are autoscalers of both versions.
    log.collection(table.named('events.events.k8s.io')).follow(log.collection(table.named('events')));
    const autoscalers = table.named('horizontalpodautoscalers.autoscaling');
    const older = table.find('autoscaling', 'v1', autoscalers.resource);
    if (older !== undefined) log.collection(older).follow(log.collection(autoscalers));
    const writer = new StoredObjectWriter(log, namespaces);
    const watches = new Watches(options, listener, clock);
    writer.controlLoops.add(new ServedDefinitions({ table, log, writer, watches }));
    writer.controlLoops.add(new GarbageCollector(table, log, writer));
    writer.controlLoops.add(new NamespaceDeletion(namespaces, log, writer));
    this.#services = {
      options,
      table,
      log,
      listener,
      writer,
      watches,
      engine: new FaultEngine(clock),
      requests: new RequestLog(),
      rights: new Rights(),
      adminToken: crypto.randomUUID(),
    };
    this.#faultPort = new FaultPort(this.#services.engine);
    for (const definition of options.resources) table.register(definition);
    for (const name of DEFAULT_NAMESPACES) this.#services.writer.ensureNamespace(name);
  }

  /** Listens, and resolves with the address. */
  async listen(): Promise<ServerEndpoint> {
    const { listener, options, adminToken } = this.#services;
    await listener.listen();
    return { url: listener.url, token: options.token, adminToken, ca: listener.ca };
  }

  /** Serves a connection that did not come through the port. */
  accept(connection: Duplex): void {
    this.#services.listener.accept(connection);
  }

  readonly control = {
    registerResource: (definition: ResourceDefinition): void => this.#services.table.register(definition),
    apply: (changes: readonly Change[]): ApplyResult => this.#apply(changes),
    populate: (options: PopulateOptions): number => this.#populate(options),
    load: (options: LoadOptions): Promise<LoadReport> => this.#run(options),
    loadIssued: (): number => this.#load?.issued ?? 0,
    stopLoad: (): void => this.#load?.stop(),
    revision: (): number => this.#services.log.revision,
    journal: (resource: string, fromRevision: number): JournalColumns =>
      this.#collection(resource).journal.columns(fromRevision),
    state: (resource: string): Map<string, string> => {
      const collection = this.#collection(resource);
      return new Map(collection.keys().map((key) => [key, String(collection.get(key)?.revision ?? '')]));
    },
    compact: (revision: number = this.#services.log.revision): number => {
      this.#services.log.compact(revision);
      return revision;
    },
    watches: (): WatchInfo[] => this.#services.watches.info(),
    waitForWatches: (count: number): Promise<void> => this.#services.watches.reached(count),
    sendBookmarks: (): number => this.#services.watches.sendBookmarks(),
    dropWatches: (how: DropMode): number => this.#services.watches.drop(how),
    expireWatches: (): number => this.#services.watches.expire(),
    restart: async (downMs: number): Promise<void> => {
      await this.#services.listener.stop();
      await sleep(downMs);
      await this.#services.listener.listen();
    },
    setFaults: (scenario: FaultScenario): void => this.#services.engine.set(scenario),
    healFaults: (faultId?: string): void => this.#services.engine.heal(faultId),
    landedFaults: (): LandedFault[] => this.#services.engine.landed,
    openFaultPort: (): Promise<FaultPortAddress> => this.#faultPort.open(),
    requests: (): RequestRecord[] => this.#services.requests.all(),
    clearRequests: (): void => {
      this.#services.requests.clear();
      this.#services.rights.clear();
    },
    rbac: (options: RbacOptions): string => this.#services.rights.yaml(options),
    close: async (): Promise<void> => {
      this.#load?.stop();
      this.#services.engine.heal();
      await this.#faultPort.close();
      this.#services.watches.close();
      await this.#services.listener.stop();
    },
  };

  #apply(changes: readonly Change[]): ApplyResult {
    const resourceVersions = changes.map((change) => {
      try {
        return this.#applyOne(change);
      } catch (error) {
        const refused = refusalOf(error);
        throw refused ? new KubeloomError('ERR_KUBELOOM_REJECTED', refused.message) : error;
      }
    });
    return { revision: this.#services.log.revision, resourceVersions };
  }

  #populate(options: PopulateOptions): number {
    const { log, writer } = this.#services;
    const { resource = 'pods', namespaces = SAMPLE_NAMESPACES } = options;
    for (let index = 0; index < namespaces; index++)
      writer.ensureNamespace(sampleNamespace(index, namespaces));
    return populate(log, this.#collection(resource), { ...options, namespaces });
  }

  async #run(options: LoadOptions): Promise<LoadReport> {
    if (this.#load !== undefined && this.#load.state !== 'idle') {
      throw new KubeloomError('ERR_KUBELOOM_STARTED', 'a load is running: await it or stopLoad() first');
    }
    const { log, watches } = this.#services;
    const collection = this.#collection(options.resource ?? 'pods');
    this.#load = new LoadGenerator(log, collection, () => watches.backlogMax(), options);
    return this.#load.run();
  }

  #collection(resource: string): Collection {
    return this.#services.log.collection(this.#services.table.named(resource)).storage;
  }

  #applyOne(change: Change): string {
    const { writer } = this.#services;
    const collection = this.#collection(change.resource);
    const { definition } = collection;
    if (change.type === 'delete') {
      const namespace = definition.namespaced ? (change.namespace ?? 'default') : '';
      const key = keyOf(namespace, change.name);
      const options = { trusted: true, propagation: 'Background' } as const;
      return String(writer.delete(collection, key, change.name, options).object.revision);
    }
    const object = toKubeObject(change.object);
    const { name = '', namespace = 'default' } = object.metadata;
    const key = keyOf(definition.namespaced ? namespace : '', name);
    const exists = collection.get(key) !== undefined;
    if (change.type === 'create' && exists) throw alreadyExists(definition, name);
    const create = change.type === 'create' || (change.type === 'put' && !exists);
    const stored = create
      ? writer.create(collection, namespace, object, { trusted: true })
      : writer.update(collection, key, object, 'everything', { trusted: true, writer: CONTROL });
    return String(stored.revision);
  }
}

/** Converts through JSON, like a request body: dates become strings and undefined disappears. */
function toKubeObject(object: ObjectLike): KubeObject {
  const plain = readDocument(writeJson(object)).value as Partial<KubeObject>;
  return { ...plain, metadata: plain.metadata ?? {} };
}
