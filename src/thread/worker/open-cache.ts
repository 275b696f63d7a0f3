/** Opens the caches of a port in the thread that received it. */
import { receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { backgroundClock, realClock, realTimers } from '../../base/clock.ts';
import type { Clock, RealTimers } from '../../base/clock.ts';
import { KubeloomError, fromErrorMessage } from '../../base/errors.ts';
import { callback, invalidOption, checkOptions } from '../../base/option-checks.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import type { ErrorListener } from '../../informer/error-reporter.ts';
import type { CachePort } from '../main/shared-cache.ts';
import { MainLoop } from '../../informer/threads/main-loop.ts';
import { resolveThreadsOptions } from '../../informer/threads/threads-options.ts';
import { BacklogBudget } from '../../replica/deliver/backlog-budget.ts';
import { Drain } from '../../replica/merge/drain.ts';
import { ForeignMemory } from './foreign-memory.ts';
import { BELL_LINE, CLOSED_LINE, OPENED_LINE, PORT_VERSION } from '../messages.ts';
import type { ToReader } from '../messages.ts';
import { ExportRingReader } from './export-ring-reader.ts';
import { DecodedCache } from '../../replica/store/decoded-cache.ts';
import { Bell } from '../../shared/ring/bell.ts';
import { Word } from '../../shared/ring/word.ts';
import { ThreadInformer } from './thread-informer.ts';

/** Options of a cache in another thread. */
export interface OpenCacheOptions {
  /** Receives the errors of handlers and index functions. Default: each becomes a process warning. */
  readonly onError?: ErrorListener;
}

/** @internal Parts that tests replace. */
export interface ThreadCacheParts {
  readonly clock: Clock;
  /** Clock whose timers do not keep the process alive. */
  readonly background: Clock;
  readonly timers: Pick<RealTimers, 'setImmediate' | 'setTimeout'>;
  /** Returns the oldest message in the port's queue, or undefined. */
  readonly receive: (port: MessagePort) => { readonly message: unknown } | undefined;
  /** If false, the main thread's bell is ignored, and the test calls `wake`. */
  readonly hasBell: boolean;
}

/** Pauses of 1 ms without records before the thread parks. They outlast a gap between two records. */
const PAUSES_MORE = 3;

const REAL_PARTS: ThreadCacheParts = {
  clock: realClock,
  background: backgroundClock,
  timers: realTimers,
  receive: receiveMessageOnPort,
  hasBell: true,
};

const CHECKS: OptionChecks<OpenCacheOptions> = { onError: callback };

/**
 * Opens the caches of a port that the main thread made with `SharedCache`. Resolves when the main thread has begun to
 * deliver; after that, wait for the informers to sync.
 *
 * @typeParam Types types of the objects by the names of the informers: `openCache<{ pods: V1Pod }>(workerData)`
 * @throws ERR_KUBELOOM_OPTION for a value that is no port; ERR_KUBELOOM_STOPPED after the main thread closed the port,
 *   or the thread that made the port has ended; ERR_KUBELOOM_STARTED if the port was opened before
 */
export async function openCache<Types extends Readonly<Record<string, unknown>>>(
  port: CachePort,
  options: OpenCacheOptions = {},
): Promise<ThreadCache<Types>> {
  checkOptions('options of a cache', options, CHECKS);
  const version: unknown = Reflect.get(Object(port), 'kubeloomCache');
  if (version !== PORT_VERSION) {
    const isOther = version !== undefined;
    invalidOption(
      'a cache port',
      port,
      isOther ? 'one of the same version of kubeloom' : 'what port() of a SharedCache returned',
    );
  }
  // The word is in the port's memory: the thread may have several copies of this module.
  const opened = new Word(new Int32Array(port.memory.words), OPENED_LINE);
  if (opened.load() !== 0) {
    const message = 'this cache port was opened before: open it once and share what openCache() returned';
    throw new KubeloomError('ERR_KUBELOOM_STARTED', message);
  }
  opened.store(1);
  const cache = new ThreadCache<Types>(port, options);
  await cache.opened;
  return cache;
}

/** The caches of a port. */
export class ThreadCache<Types extends Readonly<Record<string, unknown>>> {
  /** Holds the value, which the program may drop: garbage collection would close the port. */
  readonly #cachePort: CachePort;
  readonly #parts: ThreadCacheParts;
  readonly #informers: Map<string, ThreadInformer> = new Map();
  readonly #numbered: readonly ThreadInformer[];
  readonly #memory: ForeignMemory = new ForeignMemory(() => this.#receive());
  readonly #merger: ExportRingReader;
  /**
   * Pauses after every record instead of parking: waking a parked thread costs the main thread more than writing a
   * record.
   */
  readonly #loop: MainLoop;
  #records = 0;
  /** Time at which this thread had last read every record written for it. */
  #levelMs: number;
  #isOpened = false;
  #isClosed = false;
  /** @internal */
  readonly opened: Promise<void>;
  #open!: { readonly resolve: () => void; readonly reject: (error: KubeloomError) => void };
  #closed: Promise<void> | undefined;

  /** @internal */
  constructor(cachePort: CachePort, { onError }: OpenCacheOptions, parts: ThreadCacheParts = REAL_PARTS) {
    const { clock } = parts;
    const { memory, informers } = cachePort;
    const [port] = cachePort.transferList;
    this.#cachePort = cachePort;
    this.#parts = parts;
    this.#loop = new MainLoop(parts.timers, 0, PAUSES_MORE);
    this.#levelMs = clock.now();
    this.opened = new Promise((resolve, reject) => (this.#open = { resolve, reject }));
    const { drainBudgetMs, decodedCacheBytes, backlogBytesMax } = resolveThreadsOptions();
    this.#merger = new ExportRingReader({
      memory,
      progress: () => port.postMessage({ type: 'progress' }),
      stopped: (informer, failure) => void this.#numbered[informer]?.stop(failure),
      closed: () => void this.#shutDown(undefined),
      broken: (error) => void this.#shutDown(error),
    });
    const requestRun = this.#loop.wake;
    const drain = new Drain(this.#merger, clock, drainBudgetMs, new BacklogBudget(backlogBytesMax, clock));
    const shared = {
      thread: { drain, requestRun },
      clock,
      lagMs: () => this.#lagMs(),
      memory: this.#memory,
      decodedCache: new DecodedCache(decodedCacheBytes),
      onError,
    };
    this.#numbered = informers.map((spec) => new ThreadInformer(spec, shared));
    for (const [number, informer] of this.#numbered.entries()) {
      this.#informers.set(informers[number]?.key ?? '', informer);
      this.#merger.attach(number, informer.merge);
    }
    drain.addMaintenance(() => this.#afterRound());
    const words = new Int32Array(memory.words);
    const bell = new Bell(words, BELL_LINE);
    const closedWord = new Word(words, CLOSED_LINE);
    const portClosed = (): void => void this.#shutDown(closedWord.load() === 0 ? ownerEnded() : undefined);
    port.once('close', portClosed);
    port.on('message', (message: ToReader) => this.#take(message));
    this.#loop.start({ drain, bell: parts.hasBell ? bell : undefined, inProcess: undefined });
    port.postMessage({ type: 'open' });
    if (closedWord.load() !== 0 || isClosed(port)) portClosed();
  }

  /** Returns the informer that the main thread shared under this name. */
  informer<Name extends keyof Types & string>(name: Name): ThreadInformer<Types[Name]> {
    const informer = this.#informers.get(name);
    if (!informer)
      invalidOption('the name of an informer', name, `one of ${[...this.#informers.keys()].join(', ')}`);
    return informer as unknown as ThreadInformer<Types[Name]>;
  }

  /**
   * @internal Resolves when the cache of each informer reaches the given version; '' is every version.
   *
   * @throws ERR_KUBELOOM_STOPPED when any of the informers ended, whatever the version
   */
  async waitForResourceVersions(versions: readonly string[], signal: AbortSignal): Promise<void> {
    for (const informer of this.#numbered) informer.checkRunning();
    const behind = this.#numbered.flatMap((informer, number) => {
      const version = versions[number] ?? '';
      return version === '' || version === informer.lastSyncResourceVersion() ? [] : [{ informer, version }];
    });
    await Promise.all(
      behind.map(({ informer, version }) => informer.waitForResourceVersion(version, { signal })),
    );
  }

  /** Closes the port. Handlers receive the pending notifications; resolves when their last calls have returned. */
  close(): Promise<void> {
    return this.#shutDown(undefined);
  }

  /** Calls `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal Requests a turn, in tests without a bell. */
  wake(): void {
    if (this.#merger.hasWork()) this.#loop.wake();
  }

  #lagMs(): number {
    return this.#merger.isLevel ? 0 : this.#parts.clock.now() - this.#levelMs;
  }

  #afterRound(): boolean {
    if (this.#isClosed) return false;
    if (this.#merger.isLevel) this.#levelMs = this.#parts.clock.now();
    if (this.#merger.records !== this.#records) {
      this.#records = this.#merger.records;
      for (const informer of this.#numbered) informer.merged();
    }
    this.#merger.returnRows();
    return false;
  }

  /** Takes the next message of the port; returns false if the port's queue is empty. */
  #receive(): boolean {
    const [port] = this.#cachePort.transferList;
    const received = this.#parts.receive(port);
    if (received) this.#take(received.message as ToReader);
    return received !== undefined;
  }

  #take(message: ToReader): void {
    if (message.type === 'opened') {
      this.#isOpened = true;
      this.#open.resolve();
    } else if (message.type === 'broken') {
      void this.#shutDown(fromErrorMessage(message.error));
    } else {
      this.#memory.take(message);
    }
  }

  #shutDown(failure: KubeloomError | undefined): Promise<void> {
    this.#merger.end();
    return (this.#closed ??= this.#end(failure));
  }

  /** Ends the handlers, then the reads, and last the port: after that the main thread reuses the memory. */
  async #end(failure: KubeloomError | undefined): Promise<void> {
    if (!this.#isOpened) {
      const message = 'the main thread closed the shared cache before this thread opened it';
      this.#open.reject(failure ?? new KubeloomError('ERR_KUBELOOM_STOPPED', message));
    }
    await Promise.all(this.#numbered.map((informer) => informer.stop(failure)));
    this.#isClosed = true;
    this.#loop.stop();
    this.#memory.close();
    const [port] = this.#cachePort.transferList;
    port.close();
  }
}

/** Returns the reason of a port that closed without a message: the thread at the other end was terminated, or exited. */
function ownerEnded(): KubeloomError {
  const message =
    'the thread that made this cache port has ended: send a port of a thread that outlives the threads that read its cache';
  return new KubeloomError('ERR_KUBELOOM_STOPPED', message);
}

/** Returns whether a port with a listener is closed. A port that closed before it had a listener emits no event. */
function isClosed(port: MessagePort & { hasRef?(): boolean }): boolean {
  return port.hasRef?.() === false;
}
