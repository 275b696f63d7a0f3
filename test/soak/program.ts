/**
 * The program under test as a process: `node --expose-gc program.js KUBECONFIG`. Informers of three kinds on threads, two threads
 * with caches, a pool of reconcilers, the health door. It obeys the conductor's messages, and ends when the conductor does.
 */
import { readdirSync, appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { withCode } from '../../src/base/errors.ts';
import { InformerThreads, SharedIndexInformer, indexModule, loadKubeConfig } from '../../src/index.ts';
import { serveHealth } from '../../src/metrics/index.ts';
import { ReconcilerPool, SharedCache } from '../../src/thread/index.ts';
import { RateLimitingQueue, runWorkers } from '../../src/workqueue/index.ts';
import { nowMs } from '../e2e/members/history.ts';
import { InsideThreads, THROW_SOON } from '../faults/recovery/inside-threads.ts';
import { Calls } from './calls.ts';
import { block, folderOfSoak } from './claim.ts';
import { poolKeyOf } from './judge.ts';
import { LABELS, NAMESPACE, RESOURCES } from './load.ts';
import { poolPlaceOf } from './pool-place.ts';
import type {
  Answer,
  Command,
  ProgramFault,
  ProgramWindow,
  ReaderCommand,
  ReaderWindow,
  Request,
} from './program-messages.ts';
import { WindowHandlers } from './window-handlers.ts';
import { KIND_NAMES } from './window-record.ts';
import type { HandlerRecord, KindName, Report, Rest } from './window-record.ts';

const [kubeconfig = ''] = process.argv.slice(2);
const READERS = 2;
const POOL_THREADS = 2;
const COLLECTIONS = 3;
/** client-go waits 30 s at most, twice with its jitter, and once more after the 410 that follows an outage: two minutes. */
const BACKOFF_MAX_MS = 5000;
/** A main thread that is blocked for much longer is a program that its kubelet restarts. */
const BLOCK_MS = 500;
const MAIN_NAMES = ['prompt', 'slow'];

let reports: Report[] = [];

function reporting(from: string): (error: unknown) => void {
  return (error) => {
    const { code, message } = withCode(error);
    reports.push({ from, code, message });
  };
}

process.on('unhandledRejection', reporting('unhandled rejection'));
process.on('warning', reporting('warning'));
let threadsAlive = 0;
process.on('worker', (worker) => {
  threadsAlive++;
  worker.once('exit', () => threadsAlive--);
});

const source = loadKubeConfig({ path: kubeconfig });
const threads = new InformerThreads({ indexerThreads: 2 });
/** Kinds that were listed in this window. */
const listed = new Set<KindName>();

function informerOf(kind: KindName): SharedIndexInformer {
  return new SharedIndexInformer<unknown>(source, RESOURCES[kind], {
    namespace: NAMESPACE,
    labelSelector: Object.entries(LABELS)
      .map(([name, value]) => `${name}=${value}`)
      .join(),
    threads,
    indexers: { fault: indexModule(new URL('shard-index.js', import.meta.url).href, 'byFault') },
    tweakListOptions: (options) => {
      if (options.allowWatchBookmarks !== true || options.sendInitialEvents === true) listed.add(kind);
      return options;
    },
    // After an outage the informers return within the time that the soak grants.
    backoff: { maxMs: BACKOFF_MAX_MS },
    onError: reporting(kind),
  });
}

const informers = {
  podTemplates: informerOf('podTemplates'),
  serviceAccounts: informerOf('serviceAccounts'),
  services: informerOf('services'),
};
const queue = new RateLimitingQueue<string>({ name: 'soak' });
for (const kind of KIND_NAMES) {
  const add = ({ key }: { readonly key: string }): void => queue.add(poolKeyOf(kind, key));
  informers[kind].addEventHandler({ onAdd: add, onUpdate: (_, object) => add(object), onDelete: add });
  void informers[kind].run();
}
await Promise.all(KIND_NAMES.map((kind) => informers[kind].waitForSync()));

const shared = new SharedCache(informers);
const pool = new ReconcilerPool(new URL('reconcile.js', import.meta.url), {
  cache: shared,
  threads: POOL_THREADS,
});
const reportFromPool = reporting('pool');
const working = runWorkers(queue, pool, {
  onError: (error, item) => {
    // The thread has ended: nothing of this work goes on.
    const line = { kind: 'stops', atMs: nowMs(), ...poolPlaceOf(item) };
    appendFileSync(join(folderOfSoak(), 'pool.log'), `${JSON.stringify(line)}\n`);
    reportFromPool(error);
  },
});

class Reader {
  readonly name: string;
  readonly calls: Calls<ReaderCommand>;
  readonly #worker: Worker;

  constructor(name: string) {
    this.name = name;
    const port = shared.port();
    this.#worker = new Worker(new URL('reader-thread.js', import.meta.url), {
      workerData: { name, port },
      transferList: port.transferList,
    });
    this.calls = new Calls((request) => this.#worker.postMessage(request));
    this.#worker.on('message', (answer: Answer) => this.calls.answered(answer));
    this.#worker.on('error', reporting(name));
    this.#worker.on('exit', () => this.calls.end(`${name} has ended`));
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}

const readers = Array.from({ length: READERS }, (_, index) => new Reader(`thread ${index}`));
const health = await serveHealth({ port: 0, host: '127.0.0.1', informers: Object.values(informers) });
let handlers: WindowHandlers | undefined;
/** The handlers of earlier windows, and of the last one. */
let former: WeakRef<object>[] = [];
let last: WeakRef<object>[] = [];

async function begin(): Promise<void> {
  listed.clear();
  handlers = new WindowHandlers(informers, MAIN_NAMES);
  await Promise.all(readers.map(({ calls }) => calls.call({ type: 'begin' })));
}

async function fail(fault: ProgramFault): Promise<void> {
  switch (fault) {
    case 'reflector': {
      await using inside = await InsideThreads.open();
      await inside.run('reflector.js', THROW_SOON);
      return;
    }
    case 'reader': {
      // Its history is lost with it; its successor joins under load.
      await readers[0]?.terminate();
      const successor = new Reader(readers[0]?.name ?? '');
      readers[0] = successor;
      await successor.calls.call({ type: 'begin' });
      return;
    }
    case 'main':
      return block(BLOCK_MS);
    case 'slow':
    case 'prompt':
      handlers?.slow('slow', fault === 'slow');
      return;
    default:
      return fault satisfies never;
  }
}

async function left(versions: Readonly<Record<KindName, number>>): Promise<number> {
  const there = await Promise.all(readers.map(({ calls }) => calls.call<number>({ type: 'left', versions })));
  return there.reduce((sum, each) => sum + each, handlers?.left(versions) ?? 0);
}

async function end(): Promise<ProgramWindow> {
  const here = handlers?.leave() ?? [];
  former = [...former, ...last].filter((each) => each.deref());
  last = handlers?.handlers.map((handler) => new WeakRef(handler)) ?? [];
  handlers = undefined;
  const there = await Promise.all(readers.map(({ calls }) => calls.call<ReaderWindow>({ type: 'end' })));
  const all = [...here, ...there.flatMap((window) => window.handlers)];
  const records = all.map((record): HandlerRecord => ({ ...record, isRelisted: listed.has(record.kind) }));
  const reported = [...reports, ...there.flatMap((window) => window.reports)];
  reports = [];
  return { handlers: records, reports: reported, rest: await readRest() };
}

/** Reads what the window leaves, after garbage collections: finalizers run between two of them. */
async function readRest(): Promise<Rest> {
  for (let done = 0; done < COLLECTIONS; done++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, rss } = process.memoryUsage();
  const onProcess = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  const onInformers = Object.values(informers).flatMap((informer) => informer.stats().handlers).length;
  return {
    heapBytes: heapUsed,
    rssBytes: rss,
    descriptors: readdirSync('/proc/self/fd').length,
    threads: threadsAlive,
    listeners: onProcess + onInformers,
    // A promise of this window may still hold its handlers.
    handlersHeld: former.filter((each) => each.deref()).length,
  };
}

async function stop(): Promise<void> {
  await queue.shutDownWithDrain();
  await working;
  await pool.close();
  for (const reader of readers) await reader.terminate();
  await shared.close();
  for (const informer of Object.values(informers)) await informer.shutdown();
  await threads.close();
  await health.close();
}

async function answerTo(command: Command): Promise<unknown> {
  switch (command.type) {
    case 'begin':
      return begin();
    case 'fault':
      return fail(command.fault);
    case 'left':
      return left(command.versions);
    case 'end':
      return end();
    case 'stop':
      return stop();
    default:
      return command satisfies never;
  }
}

process.on('message', ({ id, asked }: Request<Command>) => {
  void answerTo(asked)
    .then(
      (answer): Answer => ({ id, answer }),
      (error: unknown): Answer => ({ id, error: String(error) }),
    )
    .then((answer) => process.send?.(answer, () => asked.type === 'stop' && process.disconnect()));
});
process.on('disconnect', () => process.exit());
process.send?.({ id: -1, answer: health.address });
