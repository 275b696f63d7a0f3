/** All parts of one seed's run: server, network, the pipeline on one thread, informers and recorders. */
import { KubeConfig } from '@kubernetes/client-node';
import { SharedIndexInformer, InformerThreads, field, label } from '../../src/index.ts';
import { PipelineWords } from '../../src/shared/pipeline-layout.ts';
import type { Indexers } from '../../src/index.ts';
import { FakeClock } from '../../src/tools/apiserver/testing/index.ts';
import type { HttpRequest, HttpTransport, ResponseSink } from '../../src/http/http.ts';
import type { WireRecord } from './oracle/histories.ts';
import { Recorder } from './oracle/recorder.ts';
import type { IndexValues, InformerRecording } from './oracle/recorder.ts';
import { PODS } from '../kit/objects.ts';
import { SimulatedBackend } from './backend.ts';
import type { BackendOptions } from './backend.ts';
import type { Chance } from './chance.ts';
import { Connection } from './connection.ts';
import { randomMemory } from './memory.ts';
import { APPS, NAMESPACES, Writer } from './pods.ts';
import { SimulatedServer } from './server.ts';
import { Tasks } from './tasks.ts';

/** Pauses between two rounds of packing below which a run is dense. */
const DENSE_REST_MS = 1000;
const DENSE_SLAB_BYTES = 2048;

const READ_WINDOWS_MS = [0, 5, 50] as const;

const INDICES: IndexValues = {
  namespace: ({ namespace }) => [namespace],
  app: ({ labels }) => (labels['app'] === undefined ? [] : [labels['app']]),
};
const NODE_INDEX: IndexValues = {
  node: ({ fields }) => (typeof fields['spec.nodeName'] === 'string' ? [fields['spec.nodeName']] : []),
};

export class Fixtures {
  readonly chance: Chance;
  readonly clock: FakeClock = new FakeClock(0);
  readonly recorder: Recorder;
  readonly tasks: Tasks = new Tasks();
  readonly server: SimulatedServer;
  readonly writer: Writer;
  readonly threads: InformerThreads;
  readonly informers: readonly SharedIndexInformer[];
  readonly recordings: Map<SharedIndexInformer, InformerRecording> = new Map();
  readonly connections: Set<Connection> = new Set();
  #requests = 0;
  /** Requests that the server has not answered yet. */
  readonly arriving: Connection[] = [];
  backend: SimulatedBackend | undefined;
  /** Simulated time of the main thread's own work so far. */
  #workedMs = 0;

  constructor(chance: Chance) {
    this.chance = chance;
    this.recorder = new Recorder(() => this.clock.now());
    this.server = new SimulatedServer({
      clock: this.clock,
      chance,
      historyEventsMax: Math.round(chance.magnitude(20, 2000)),
      firstRevision: chance.integer(1, 1000),
      committed: (commit) => this.recorder.histories.commits.push(commit),
    });
    this.writer = new Writer(this.server, chance);
    const memory = randomMemory(chance);
    const drainBudgetMs = chance.magnitude(0.2, 10);
    const restMs = chance.magnitude(100, 10_000);
    // With tiny slabs and rounds without a pause, packing and compaction move objects all the time.
    const isDense = restMs < DENSE_REST_MS;
    this.threads = new InformerThreads(
      { indexerThreads: 0, drainBudgetMs, compressAfterMs: isDense ? 1 : restMs, restartsMax: 1000 },
      {
        packBytesMin: 0,
        ...(isDense ? { slabBytes: DENSE_SLAB_BYTES } : {}),
        memory,
        clock: { now: () => this.#workTime(), schedule: (ms, callback) => this.clock.schedule(ms, callback) },
        timers: this.tasks.timersOn(this.clock),
        backend: (_memory, events, requestRun) =>
          (this.backend = this.#backendOn({ memory, events, requestRun })),
      },
    );
    this.informers = Array.from({ length: chance.integer(1, 2) }, (_, index) => this.#informer(index));
  }

  write(record: WireRecord): void {
    this.recorder.histories.wire.push({ at: this.clock.now(), ...record });
  }

  /** Advances the time of the main thread's work, so that its budgets end. */
  #workTime(): number {
    this.#workedMs += this.chance.random() * 0.2;
    return this.clock.now() + this.#workedMs;
  }

  #backendOn(given: Pick<BackendOptions, 'memory' | 'events' | 'requestRun'>): SimulatedBackend {
    const { restarts, wire } = this.recorder.histories;
    const merged = new PipelineWords(given.memory).merged.load();
    const incarnation = restarts.length;
    restarts.push({ incarnation, merged, wire: wire.length });
    return new SimulatedBackend({
      ...given,
      clock: this.clock,
      random: this.chance.random,
      readWindowMs: this.chance.pick(READ_WINDOWS_MS),
      transport: () => this.#transport(),
      applied: (record) => this.recorder.histories.applied.push(record),
      incarnation,
    });
  }

  #transport(): HttpTransport {
    return {
      request: (request, sink) => this.#request(request, sink),
      closeIdle: () => undefined,
      dispose: () => Promise.resolve(),
    };
  }

  #request(request: HttpRequest, sink: ResponseSink): Connection {
    const number = ++this.#requests;
    const connection = new Connection(number, request, sink, this.clock, (record) => this.write(record));
    const { path, query } = connection;
    const informer = nameOf(path, query.get('labelSelector') ?? '');
    this.connections.add(connection);
    this.arriving.push(connection);
    this.write({
      what: 'request',
      connection: number,
      informer,
      method: 'GET',
      isWatch: query.get('watch') === 'true',
      query: Object.fromEntries(query),
    });
    return connection;
  }

  #informer(index: number): SharedIndexInformer {
    const { chance } = this;
    // The second one selects, so that the two differ.
    const kind = index === 0 ? 'all' : chance.pick(['namespace', 'label'] as const);
    const [namespace] = NAMESPACES;
    const [app] = APPS;
    const pages = chance.happens(0.3) ? { pageSize: chance.integer(1, 10) } : {};
    const isResyncing = chance.happens(0.3);
    // Without it no field outside metadata is extracted.
    const hasNodes = chance.happens(0.5);
    const nodes: Indexers = hasNodes ? { node: field('spec.nodeName') } : {};
    const indexers = { app: label('app'), ...nodes };
    const informer = new SharedIndexInformer(kubeConfig(), PODS, {
      threads: this.threads,
      clock: this.clock,
      codec: chance.pick(['json', 'json', 'msgpack'] as const),
      indexers,
      onError: this.recorder.report,
      list: { watchList: chance.pick(['auto', 'auto', 'off'] as const), ...pages },
      ...(isResyncing ? { resyncPeriodMs: chance.integer(1000, 60_000) } : {}),
      ...(kind === 'namespace' ? { namespace } : {}),
      ...(kind === 'label' ? { labelSelector: `app=${app}` } : {}),
    });
    const selected = kind === 'namespace' ? { namespace } : kind === 'label' ? { labels: { app } } : {};
    const scope = { ...selected, ...pages };
    const name = nameOf(
      kind === 'namespace' ? `/namespaces/${namespace}/` : '',
      kind === 'label' ? `app=${app}` : '',
    );
    const indices = { ...INDICES, ...(hasNodes ? NODE_INDEX : {}) };
    const recording = { name, scope, indices, mayRepeat: isResyncing };
    this.recordings.set(informer, recording);
    this.recorder.informer(informer, recording);
    return informer;
  }
}

function nameOf(path: string, labelSelector: string): string {
  const namespace = /namespaces\/(\w+)\//.exec(path)?.[1];
  if (namespace !== undefined) return `pods of ${namespace}`;
  return labelSelector === '' ? 'pods' : `pods with ${labelSelector}`;
}

function kubeConfig(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'simulated', server: 'http://simulated' }],
    users: [{ name: 'simulated' }],
    contexts: [{ name: 'simulated', cluster: 'simulated', user: 'simulated' }],
    currentContext: 'simulated',
  });
  return config;
}
