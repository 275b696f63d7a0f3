/**
 * The place of a run in the cluster: the namespaces, the definition of the custom resource, and the fake nodes. All
 * objects carry the run's label, so they can be removed without touching other objects; leftovers are listed with the
 * command that removes them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { sleep } from '../../../base/sleep.ts';
import type { Clock } from '../../../base/clock.ts';
import { KubeloomError, messageOf } from '../../../base/errors.ts';
import { onAbort } from '../../../base/on-abort.ts';
import { resourcePath } from '../../../kube/resource.ts';
import { KubeStatusError } from '../../../kube/status.ts';
import type { ApiClient } from '../../../http/api-client.ts';
import type { Leftover } from '../result.ts';
import { KINDS } from '../workload/workload.ts';
import type { ObjectKind, Workload } from '../workload/workload.ts';
import type { ApiWriter } from '../write/api-writer.ts';
import { LABEL, LABEL_VALUE, RUN_LABEL, definitionName, definitionOf, resourceOf } from '../write/kinds.ts';
import type { RunPlace } from '../write/kinds.ts';
import { listPage } from '../process/list-page.ts';
import type { ListedObject } from '../process/list-page.ts';
import { ALIVE_AT, HEARTBEAT_MS, OWNER, leftOfRuns } from './dead-runs.ts';
import type { Left } from './dead-runs.ts';

const NAMESPACES = '/api/v1/namespaces';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const KWOK_NODE = 'kwok.x-k8s.io/node';
const DEFINED_AFTER_MS_MAX = 30_000;
const POLL_MS = 100;

/** A namespace or definition to remove. */
type Owned = Pick<Left, 'what' | 'name' | 'uid'>;

export interface ClusterAccess {
  readonly api: ApiWriter;
  readonly client: ApiClient;
  /** The name of the context, for commands. */
  readonly context: string;
  readonly signal: AbortSignal;
  /** Receives a line about each step. */
  readonly say: (line: string) => void;
}

/** Returns the identifier of a run with a name, so that processes that know the name find the run. */
export function runIdOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 8);
}

/** Returns the namespace in which the indexes of a run publish their states. */
export function statusNamespaceOf(run: string): string {
  return `${LABEL_VALUE}-${run}-status`;
}

export class TestCluster {
  readonly place: RunPlace;
  readonly #access: ClusterAccess;
  readonly #kinds: readonly ObjectKind[];
  readonly #name: string | undefined;
  /** Undefined before `create`: this process owns only the objects that it created. */
  #created: Owned[] | undefined;

  private constructor(
    access: ClusterAccess,
    workload: Workload,
    nodes: readonly string[],
    name: string | undefined,
  ) {
    const run = name === undefined ? randomBytes(4).toString('hex') : runIdOf(name);
    this.#name = name;
    const count = Math.max(...workload.objects.map(({ namespaces }) => namespaces));
    const namespaces = Array.from({ length: count }, (_, index) => `${LABEL_VALUE}-${run}-${index + 1}`);
    this.place = { run, namespaces, nodes };
    this.#access = access;
    this.#kinds = workload.objects.map(({ kind }) => kind);
  }

  /**
   * Finds the resources that the workload needs. Does not write.
   *
   * @param name of a run with several indexes, which uses an additional namespace
   * @throws ERR_KUBELOOM_LOADTEST when the cluster lacks a resource
   */
  static async find(access: ClusterAccess, workload: Workload, name?: string): Promise<TestCluster> {
    const needsNodes = workload.objects.some(({ kind }) => kind === 'Pod');
    return new TestCluster(access, workload, needsNodes ? await fakeNodes(access) : [], name);
  }

  async create(): Promise<void> {
    const { run, namespaces } = this.place;
    this.#created = [];
    for (const name of namespaces) await this.#createNamespace(name);
    if (this.#kinds.includes('Widget')) await this.#define();
    // The last step: other indexes wait for this namespace.
    if (this.#name !== undefined) await this.#createNamespace(statusNamespaceOf(run));
  }

  /** Removes all objects of this run; returns the leftovers. A process that created none finds them by their labels. */
  async remove(): Promise<Leftover[]> {
    const { run } = this.place;
    return this.#remove(run, this.#created ?? (await this.#found()), this.#kinds);
  }

  async #found(): Promise<Owned[]> {
    const left = [
      ...(await this.#left('namespace', NAMESPACES)),
      ...(await this.#left('customresourcedefinition', DEFINITIONS)),
    ];
    return left.filter(({ labels }) => labels?.[RUN_LABEL] === this.place.run);
  }

  async #createNamespace(name: string): Promise<void> {
    const labels = { [LABEL]: LABEL_VALUE, [RUN_LABEL]: this.place.run };
    const metadata = { name, labels, annotations: proofOfLife() };
    try {
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
      const created = await this.#access.api.send('POST', NAMESPACES, body);
      this.#created?.push({ what: 'namespace', name, uid: created.metadata?.uid });
    } catch (cause) {
      const isTaken = cause instanceof KubeStatusError && cause.reason === 'AlreadyExists';
      if (!isTaken || this.#name === undefined) throw cause;
      const message = `the run ${this.#name} exists in this cluster: collect it, or choose another --run`;
      throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message, { cause });
    }
  }

  /** Removes the leftovers of dead runs, and lists the objects of other runs. */
  async removeDead(): Promise<void> {
    const { say } = this.#access;
    const left = [
      ...(await this.#left('namespace', NAMESPACES)),
      ...(await this.#left('customresourcedefinition', DEFINITIONS)),
    ];
    const { dead, others } = leftOfRuns(left, Date.now());
    for (const [run, its] of dead) {
      const rest = await this.#remove(run, its, KINDS);
      for (const { what, name } of its) {
        const failure = rest.find((each) => each.what === `${what} ${name}`);
        const outcome = failure ? `could not be removed (${failure.why}): ${failure.command}` : 'was removed';
        say(`${what} ${name} of a dead run ${outcome}`);
      }
    }
    for (const { what, name } of others) {
      say(`${what} ${name} is another run's; when that has ended: ${this.#command(what, name)}`);
    }
  }

  /** Renews the proof that this run is alive until the signal is aborted. */
  beatUntil(signal: AbortSignal, clock: Clock): void {
    const { api } = this.#access;
    const path = `${NAMESPACES}/${this.place.namespaces[0]}`;
    let cancel = (): void => {};
    const beat = async (): Promise<void> => {
      try {
        await api.send('PATCH', path, { metadata: { annotations: proofOfLife() } });
      } catch (error) {
        // If the server does not answer for minutes, this run seems dead, and the measurement is worthless.
        if (!(error instanceof KubeloomError)) throw error;
      }
      if (!signal.aborted) cancel = clock.schedule(HEARTBEAT_MS, () => void beat());
    };
    cancel = clock.schedule(HEARTBEAT_MS, () => void beat());
    onAbort(signal, () => cancel());
  }

  async #left(what: Left['what'], collection: string): Promise<Left[]> {
    const { client, signal } = this.#access;
    const selector = `labelSelector=${encodeURIComponent(`${LABEL}=${LABEL_VALUE}`)}`;
    try {
      const items = await listOf(client, `${collection}?${selector}`, signal);
      const present = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      return present.map(({ metadata }) => ({ what, ...metadata }));
    } catch (error) {
      // A server without custom resources does not serve definitions.
      if (error instanceof KubeloomError && error.code === 'ERR_KUBELOOM_NOT_FOUND') return [];
      throw error;
    }
  }

  async #define(): Promise<void> {
    const { api, client, signal } = this.#access;
    const { run } = this.place;
    try {
      const created = await api.send('POST', DEFINITIONS, definitionOf(run, proofOfLife()));
      const what = 'customresourcedefinition';
      this.#created?.push({ what, name: definitionName(run), uid: created.metadata?.uid });
    } catch (cause) {
      const message = `Widgets need a server with custom resources: ${messageOf(cause)}`;
      throw new KubeloomError('ERR_KUBELOOM_LOADTEST', message, { cause });
    }
    const deadline = performance.now() + DEFINED_AFTER_MS_MAX;
    for (;;) {
      try {
        await client.getBody(resourcePath(resourceOf('Widget', run)), signal);
        return;
      } catch (error) {
        // The server serves the resource a moment after the definition is created.
        if (performance.now() > deadline || signal.aborted) throw error;
        await sleep(POLL_MS);
      }
    }
  }

  /** Deletes the objects first: a cluster without a namespace controller would keep them. */
  async #remove(run: string, owned: readonly Owned[], kinds: readonly ObjectKind[]): Promise<Leftover[]> {
    const left: Leftover[] = [];
    for (const { name: namespace, uid } of owned.filter(({ what }) => what === 'namespace')) {
      await this.#attempt(left, 'namespace', namespace, async () => {
        if (namespace === statusNamespaceOf(run))
          await this.#empty(namespace, 'ConfigMap', run, LABEL, LABEL_VALUE);
        else for (const kind of kinds) await this.#empty(namespace, kind, run);
        await this.#delete(`${NAMESPACES}/${namespace}`, uid);
      });
    }
    for (const { what, name, uid } of owned.filter((each) => each.what === 'customresourcedefinition'))
      await this.#attempt(left, what, name, () => this.#delete(`${DEFINITIONS}/${name}`, uid));
    return left;
  }

  /**
   * Deletes the objects of a kind with a label. Objects in the status of a run lack the run's label, so that no watcher
   * receives them.
   */
  #empty(namespace: string, kind: ObjectKind, run: string, label = RUN_LABEL, value = run): Promise<void> {
    const selector = encodeURIComponent(`${label}=${value}`);
    const path = resourcePath(resourceOf(kind, run), namespace);
    return this.#delete(`${path}?labelSelector=${selector}&gracePeriodSeconds=0`);
  }

  /** @param uid an object of the same name with another uid is another object, and stays */
  async #delete(path: string, uid?: string): Promise<void> {
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } };
    try {
      await this.#access.api.send('DELETE', path, uid === undefined ? undefined : options);
    } catch (error) {
      // The object was never created, is already gone, or belongs to another run.
      const isGone = ['ERR_KUBELOOM_NOT_FOUND', uid === undefined ? '' : 'ERR_KUBELOOM_CONFLICT'];
      if (!(error instanceof KubeloomError && isGone.includes(error.code))) throw error;
    }
  }

  async #attempt(left: Leftover[], what: string, name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      left.push({ what: `${what} ${name}`, why: messageOf(error), command: this.#command(what, name) });
    }
  }

  #command(what: string, name: string): string {
    return `kubectl --context ${quoted(this.#access.context)} delete ${what} ${quoted(name)}`;
  }
}

/**
 * Quotes a text for a shell unless it is a plain word: the context of a kubeconfig and the name of a server may contain
 * any character.
 */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function proofOfLife(): Readonly<Record<string, string>> {
  return { [OWNER]: `${hostname()} ${process.pid}`, [ALIVE_AT]: new Date().toISOString() };
}

async function fakeNodes({ client, signal }: ClusterAccess): Promise<readonly string[]> {
  const nodes = await listOf(client, '/api/v1/nodes', signal);
  const fake = nodes.filter(({ metadata }) => metadata.annotations?.[KWOK_NODE] === 'fake');
  if (fake.length > 0) return fake.map(({ metadata }) => metadata.name);
  throw new KubeloomError(
    'ERR_KUBELOOM_LOADTEST',
    `Pods need fake nodes, and the cluster has none with the annotation ${KWOK_NODE}=fake: install kwok, and make some`,
  );
}

async function listOf(
  client: ApiClient,
  path: string,
  signal: AbortSignal,
): Promise<readonly ListedObject[]> {
  return (await listPage(client, path, signal)).items;
}
