/** Hostile kubeconfigs and plugins, options of public constructors, and results of callbacks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  InformerThreads,
  SharedIndexInformer,
  SharedInformerFactory,
  drop,
  label,
  loadKubeConfig,
} from '../../src/index.ts';
import { CacheMutationDetector, ListWatch, Reflector, newIndexer } from '../../src/client-go/index.ts';
import { InformersMap, LeaderElector, Manager, ObjectClient } from '../../src/controller/index.ts';
import { ApiClient } from '../../src/http/api-client.ts';
import { metaNamespaceKeyFunc } from '../../src/kube/keys.ts';
import { PartitionGroup } from '../../src/partitions/index.ts';
import { FakeClock, startEmbeddedApiServer } from '../../src/tools/apiserver/testing/index.ts';
import { PriorityQueue, RateLimitingQueue, WorkQueue, runWorkers } from '../../src/workqueue/index.ts';
import { CONFIG_MAPS, kubeConfigFor } from '../security/bare-server.ts';
import type { Chance } from '../sim/chance.ts';
import { HostileError, TOKEN, hostileCallback, hostileValue, mutated } from './hostile.ts';
import type { FuzzTarget, Probe } from './probe.ts';
import { RawServer } from './raw-server.ts';
import { HANG_MS } from '../kit/hang.ts';
import { until } from '../kit/until.ts';

const PASSWORD = TOKEN.replace('token', 'pass');
const YAML = `apiVersion: v1
kind: Config
current-context: x
clusters:
- name: c
  cluster:
    server: https://127.0.0.1:1
    certificate-authority-data: ${Buffer.from('ca').toString('base64')}
contexts:
- name: x
  context: {cluster: c, user: u, namespace: d}
users:
- name: u
  user:
    token: ${TOKEN}
- name: v
  user:
    username: v
    password: ${PASSWORD}
    exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/cat, args: [x], interactiveMode: Never, env: [{name: A, value: ${TOKEN}}]}
`;

function folderTarget(
  name: string,
  cases: number,
  run: (path: string, chance: Chance, probe: Probe) => Promise<void>,
): FuzzTarget {
  return {
    name,
    quickCases: 150,
    cases,
    open: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'kubeloom-fuzz-'));
      const close = async (): Promise<void> => rmSync(folder, { recursive: true });
      return { run: (chance, probe) => run(join(folder, 'file'), chance, probe), close };
    },
  };
}

const KUBECONFIGS = folderTarget('kubeconfigs', 15000, async (path, chance, probe) => {
  const text = chance.happens(0.05) ? YAML : mutated(chance, YAML);
  writeFileSync(path, text);
  const config = await probe.attempt('loadKubeConfig', () =>
    loadKubeConfig(chance.happens(0.7) ? { path } : { path, context: 'x' }),
  );
  if (text === YAML) probe.want(config !== undefined, 'a valid kubeconfig was refused');
  if (config === undefined) return;
  probe.text(config, 'the kubeconfig');
  probe.text(JSON.stringify(config), 'the kubeconfig as JSON');
  await probe.attempt('ApiClient', () => new ApiClient(config));
});

const CREDENTIAL = JSON.stringify({
  kind: 'ExecCredential',
  apiVersion: 'client.authentication.k8s.io/v1',
  status: { token: TOKEN, expirationTimestamp: '2100-01-01T00:00:00Z' },
});

const PLUGINS: FuzzTarget = {
  name: 'plugins',
  quickCases: 20,
  cases: 1000,
  open: async () => {
    const server = await RawServer.start();
    server.answer = () => ({ pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'], ending: 'end' });
    const target = folderTarget('plugins', 1000, async (path, chance, probe) => {
      writeFileSync(path, chance.happens(0.1) ? CREDENTIAL : mutated(chance, CREDENTIAL));
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: '/bin/cat',
        args: [path],
        interactiveMode: 'Never',
      };
      const client = new ApiClient(kubeConfigFor(server.url, { exec }));
      await probe.attempt('a request', () => client.getJson('/x', AbortSignal.timeout(HANG_MS)));
    });
    const { run, close } = await target.open();
    return { run, close: () => close().then(() => server.close()) };
  },
};

const CONFIG = kubeConfigFor('https://127.0.0.1:1', { token: TOKEN });
const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

function emptySource(): ListWatch<object> {
  return new ListWatch<object>({
    list: () => Promise.reject(new Error('no list')),
    watch: () => Promise.reject(new Error('no watch')),
  });
}

interface Made {
  /** Names, separated by spaces. */
  readonly options: string;
  readonly base?: object;
  /** Constructs from options of any shape. @returns what must be closed */
  readonly make: (options: never) => unknown;
}

const INFORMER_OPTIONS =
  'threads codec fields backoff list watch slowHandler debug onError indexers namespace labelSelector ' +
  'fieldSelector view transform resyncPeriodMs tweakListOptions name clock metrics shard';
const QUEUE_OPTIONS = 'name clock rateLimiter metrics order agingMs';

/** The public constructors with their options; a name that an object does not have is refused as well. */
const CONSTRUCTORS: Readonly<Record<string, Made>> = {
  SharedIndexInformer: {
    options: INFORMER_OPTIONS,
    make: (options) => new SharedIndexInformer(CONFIG, CONFIG_MAPS, options),
  },
  SharedInformerFactory: {
    options: `${INFORMER_OPTIONS} defaultResyncMs customResync`,
    make: (options) => new SharedInformerFactory(CONFIG, options),
  },
  InformerThreads: {
    options:
      'indexerThreads logBytes ringBytes objectBytesMax decodedCacheBytes compressAfterMs drainBudgetMs ' +
      'clock restartsMax restartWindowMs onError',
    base: { indexerThreads: 0 },
    make: (options) => new InformerThreads(options),
  },
  InformersMap: {
    options: `${INFORMER_OPTIONS} cacheSyncTimeoutMs kinds resources`,
    make: (options) => new InformersMap(CONFIG, options),
  },
  Manager: {
    options: 'cache clock leaderElection onError gracefulShutdownTimeoutMs signal',
    make: (options) => new Manager(CONFIG, options),
  },
  PartitionGroup: {
    options: 'partitions identity leaseDurationMs onError clock weights drainTimeoutMs',
    base: { name: 'g', namespace: 'd' },
    make: (options) => new PartitionGroup(CONFIG, options),
  },
  LeaderElector: {
    options:
      'lock identity leaseDurationMs renewDeadlineMs retryPeriodMs clock onNewLeader onError ' +
      'releaseOnCancel client name labels recorder',
    base: { ...TIMES, client: new ObjectClient(CONFIG), namespace: 'd', name: 'l', identity: 'i' },
    make: (options) => new LeaderElector(options),
  },
  WorkQueue: { options: QUEUE_OPTIONS, make: (options) => new WorkQueue(options) },
  RateLimitingQueue: { options: QUEUE_OPTIONS, make: (options) => new RateLimitingQueue(options) },
  PriorityQueue: { options: QUEUE_OPTIONS, make: (options) => new PriorityQueue(options) },
  CacheMutationDetector: {
    options: 'name failureFunc periodMs retainMs clock',
    make: (options) => new CacheMutationDetector(options),
  },
  Reflector: {
    options:
      'name watchListPageSize resyncPeriodMs backoff clock watchList watchErrorHandler typeDescription',
    make: (options) =>
      new Reflector(emptySource(), undefined, newIndexer<object>(metaNamespaceKeyFunc, {}), options),
  },
  EmbeddedApiServer: {
    options:
      'port host tls token resources requestBytesMax historyMax bookmarkIntervalMs freshnessTimeoutMs ' +
      'allowRemote sharding',
    base: { isolation: 'none' },
    make: (options) => startEmbeddedApiServer(options),
  },
};

async function passing(make: Made['make'], options: unknown): Promise<unknown> {
  try {
    return await make(options as never);
  } catch (error) {
    if (error instanceof HostileError) return undefined;
    throw error;
  }
}

const OPTIONS: FuzzTarget = {
  name: 'options',
  quickCases: 150,
  cases: 5000,
  open: async () => ({
    run: async (chance, probe) => {
      const [name, constructor] = chance.pick(Object.entries(CONSTRUCTORS)) as [string, Made];
      const { base = {}, make } = constructor;
      const options = constructor.options.split(' ');
      const given: Record<string, unknown> = { ...base };
      const changes = chance.integer(0, 2);
      for (let change = 0; change < changes; change++)
        given[chance.pick(options) ?? ''] = chance.happens(0.2)
          ? { [chance.pick(options) ?? '']: hostileValue(chance) }
          : hostileValue(chance);
      const whole = chance.happens(0.05) ? hostileValue(chance) : given;
      const made = await probe.attempt(`new ${name}`, () => passing(make, whole));
      if (changes === 0 && whole === given) probe.want(made !== undefined, `${name} refuses no options`);
      const closing = made as { close?: () => unknown; [Symbol.asyncDispose]?: () => unknown } | undefined;
      await probe.attempt(
        `the end of ${name}`,
        () => closing?.[Symbol.asyncDispose]?.() ?? closing?.close?.(),
      );
    },
    close: async () => {},
  }),
};

/** Results of reconciliations and limiters: every key ends or is tried again, and every failure has a code. */
const RECONCILIATIONS: FuzzTarget = {
  name: 'reconciliations',
  quickCases: 150,
  cases: 40000,
  open: async () => ({
    run: async (chance, probe) => {
      const clock = new FakeClock();
      const when = chance.happens(0.4) ? (hostileCallback(chance) as never) : () => 1;
      const rateLimiter = {
        when,
        forget: chance.happens(0.8) ? () => {} : (hostileCallback(chance) as never),
        numRequeues: () => 0,
      };
      const queue = chance.happens(0.5)
        ? new RateLimitingQueue<string>({ clock, rateLimiter })
        : new PriorityQueue<string>({ clock, rateLimiter });
      for (const key of ['a', 'b', 'c']) queue.add(key);
      const seen = new Set<string>();
      const reconcile = hostileCallback(chance);
      const running = runWorkers(queue, 2, (key) => (seen.add(key), reconcile(key) as never), {
        clock,
        retriesMax: 2,
        onError: (error) => {
          probe.text(error, 'onError');
          return chance.happens(0.2) ? hostileCallback(chance)() : undefined;
        },
      });
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      probe.want(seen.size === 3, `${seen.size} of 3 keys were reconciled`);
      queue.shutDown();
      await running;
    },
    close: async () => {},
  }),
};

const ITEMS = ['a', 'b', 'c'].map((name) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'd', uid: name, resourceVersion: '5', labels: { l: 'x' } },
}));

/** Results of everything that an informer calls: it delivers its objects whatever they are. */
const CALLBACKS: FuzzTarget = {
  name: 'callbacks',
  quickCases: 20,
  cases: 400,
  open: async () => {
    const threads = new InformerThreads({ indexerThreads: 0 });
    const run = async (chance: Chance, probe: Probe): Promise<void> => {
      const hostile = <F>(usual: F): F => (chance.happens(0.3) ? (hostileCallback(chance) as F) : usual);
      const source = new ListWatch<object>({
        list: hostile(() => Promise.resolve({ metadata: { resourceVersion: '9' }, items: ITEMS })),
        watch: hostile(() => Promise.resolve({ stop: () => {}, async *[Symbol.asyncIterator]() {} })),
        isWatchListUnsupported: true,
      });
      const added = new Set<string>();
      await using informer = new SharedIndexInformer<object>(source, CONFIG_MAPS, {
        threads,
        backoff: { initialMs: 1, maxMs: 2 },
        transform: chance.happens(0.5) ? drop('metadata.managedFields') : hostile((object: object) => object),
        indexers: { l: label('l'), mine: hostile(() => ['x']) },
        tweakListOptions: hostile(() => {}),
        onError: (error: Error) => {
          probe.error(error, 'onError');
          return hostile(() => undefined)();
        },
      } as never);
      const handler = hostile((): void => {});
      informer.addEventHandler({ onAdd: (entry) => (added.add(entry.name), handler()) });
      const running = informer.run();
      let looks = 0;
      await until(() => added.size === 3 || ++looks > 30);
      // A case hangs if it does not deliver what its cache has.
      await until(() => !informer.hasSynced() || added.size === informer.getIndexer().listKeys().length);
      await informer.shutdown();
      await probe.attempt('run', () => running);
    };
    return { run, close: () => threads.close() };
  },
};

export const PROGRAM_TARGETS: readonly FuzzTarget[] = [
  KUBECONFIGS,
  PLUGINS,
  OPTIONS,
  RECONCILIATIONS,
  CALLBACKS,
];
