/**
 * All options of the threads: unit, default with the source, and bound. Relations between options are checked once,
 * when they are resolved. A wrong value throws a coded error that names the allowed values.
 */
import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { coresOfControlGroup } from '../../base/control-group.ts';
import { BLOCK_BYTES } from '../../shared/log/log-layout.ts';
import { RING_BYTES_MIN } from '../../shared/record/limits.ts';
import {
  integer,
  number,
  invalidOption,
  checkFinite,
  checkInteger,
  checkOptions,
} from '../../base/option-checks.ts';
import { CAPACITY_MAX_BYTES } from '../../shared/ring/ring-layout.ts';
import type { OptionChecks } from '../../base/option-checks.ts';
import type { RetainChecks } from '../../replica/store/entry-owner.ts';

/** Format of the objects in memory. */
export type Codec = 'json' | 'msgpack';

/** Options of the threads that informers share. */
export interface ThreadsOptions {
  /**
   * Indexer threads. 0 pins the pipeline to the calling thread, and a number above 0 starts threads with the first informer;
   * results are identical. Default `auto`: informers begin on the calling thread and change, once, to a reflector thread and
   * 1 indexer thread, plus 1 for every core beyond three, at most 8, when these pay: for a transform or index in a module
   * or `unref()`, or after seconds with more than some 500 events of 5 KB a second; what arrives in one read counts less.
   * Rates change nothing where one core is given. In a container the quota counts, not the machine's cores.
   */
  readonly indexerThreads?: number | 'auto';
  /**
   * Shared memory for wire bytes on their way to the main thread, a multiple of 4 MiB. Default 32 MiB; with less than
   * 512 MiB of memory a sixteenth, but at least 8 MiB, and four times a given `objectBytesMax`.
   */
  readonly logBytes?: number;
  /** Size of each of the 2 × `indexerThreads` rings. Default 4 MiB, a power of two, at least 16 KiB. */
  readonly ringBytes?: number;
  /**
   * Limit for an object. Of a larger object only the identity is kept, and reading it throws. Default and maximum: a
   * quarter of `logBytes`.
   */
  readonly objectBytesMax?: number;
  /**
   * Longest time between two reads of the sockets while events come singly: the reflector's thread sleeps after a read
   * and takes the events of that time together, so that each wake-up of the three threads serves several events. The
   * window is shorter above 4,500 events a second: 1 ms at 10,000, none above 20,000. The first event after silence,
   * lists and first states never wait. 0: no window. At most 50. Default 5 ms. Without effect on the calling thread.
   */
  readonly readWindowMs?: number;
  /** Longest time for which the main thread works before it yields to the event loop. Default 1 ms. */
  readonly drainBudgetMs?: number;
  /**
   * Heap for caching parsed objects that listers returned, from the second parse on, and for metadata that later states
   * of an object share. Default 64 MiB, but at most an eighth of the limit of V8's heap.
   */
  readonly decodedCacheBytes?: number;
  /**
   * Time without a change after which (at most twice as long) an object is packed: to about a tenth of the size among
   * similar objects, for 2 µs more a read. Objects of a list are packed at once. Infinity: never, lists included. Default
   * 2000 ms.
   */
  readonly compressAfterMs?: number;
  /**
   * Time without progress after which a thread of kubeloom is terminated, and new threads begin. A module of yours may
   * work on an object for at most this time. Default 5000 ms.
   */
  readonly stallTimeoutMs?: number;
  /**
   * Restarts of the threads within `restartWindowMs`. At the next failure the informer whose objects caused all of them
   * ends with ERR_KUBELOOM_THREAD, or all informers of these threads if there is none. Default 10. 0: new threads never
   * begin.
   */
  readonly restartsMax?: number;
  /** Period in which `restartsMax` counts. Default 60 s. */
  readonly restartWindowMs?: number;
  /**
   * Bytes of superseded objects that pending notifications of all informers of these threads may retain before the
   * handlers that retain most receive several changes of an object as one (docs/bounds.md). At least 64 KiB. Default: a
   * quarter of the smallest of the machine's memory, the limit of the process's control group, and the limit of V8's
   * heap.
   */
  readonly backlogBytesMax?: number;
}

export type ResolvedThreadsOptions = Required<ThreadsOptions>;

/**
 * Returns the cores of the machine, or of the control group's quota if that is less. Newer versions of Node also do
 * this.
 */
export function availableCores(
  machineCores: number = availableParallelism(),
  quotaCores: number = coresOfControlGroup(),
): number {
  return Math.max(1, Math.floor(Math.min(machineCores, quotaCores)));
}

/** Returns the number of indexer threads for a number of cores; the main thread and the reflector use the first two. */
export function defaultIndexerThreads(cores: number = availableCores()): number {
  checkFinite('cores', cores);
  return Math.min(8, Math.max(1, cores - 2));
}

/** Returns whether further threads can pay: on one core they only take turns with the calling thread. */
export function mayThreadsPay(cores: number = availableCores()): boolean {
  return cores >= 2;
}

const indexerThreads = integer(0, 64);
const TIMER_MS_MAX = 2 ** 31 - 1;
const compressAfterMs = number(1, TIMER_MS_MAX);

const CHECKS: OptionChecks<ThreadsOptions> = {
  indexerThreads: (name, value) => value === 'auto' || indexerThreads(name, value),
  logBytes: integer(BLOCK_BYTES, 2 ** 32 - BLOCK_BYTES),
  ringBytes: integer(RING_BYTES_MIN, CAPACITY_MAX_BYTES),
  objectBytesMax: integer(4096),
  readWindowMs: number(0, 50),
  drainBudgetMs: number(0.1, 1000),
  decodedCacheBytes: integer(0),
  compressAfterMs: (name, value) => value === Infinity || compressAfterMs(name, value),
  stallTimeoutMs: number(1000),
  restartsMax: integer(0, 1000),
  restartWindowMs: number(1),
  backlogBytesMax: integer(2 ** 16),
};

/** @throws ERR_KUBELOOM_OPTION */
export function resolveThreadsOptions(options: ThreadsOptions = {}): ResolvedThreadsOptions {
  if (typeof options !== 'object' || options === null) {
    invalidOption('threads', options, 'options such as { indexerThreads: 3 }, or an InformerThreads');
  }
  checkOptions('options of the threads', options, CHECKS);
  const logBytes = options.logBytes ?? defaultLogBytes(options.objectBytesMax);
  const resolved = {
    indexerThreads: options.indexerThreads ?? 'auto',
    logBytes,
    ringBytes: options.ringBytes ?? 4 * 2 ** 20,
    objectBytesMax: options.objectBytesMax ?? logBytes / 4,
    readWindowMs: options.readWindowMs ?? 5,
    drainBudgetMs: options.drainBudgetMs ?? 1,
    decodedCacheBytes: options.decodedCacheBytes ?? defaultDecodedCacheBytes(),
    compressAfterMs: options.compressAfterMs ?? 2000,
    stallTimeoutMs: options.stallTimeoutMs ?? 5000,
    restartsMax: options.restartsMax ?? 10,
    restartWindowMs: options.restartWindowMs ?? 60_000,
    backlogBytesMax: options.backlogBytesMax ?? defaultBacklogBytesMax(),
  };
  if (logBytes % BLOCK_BYTES !== 0) invalidOption('logBytes', logBytes, `a multiple of ${BLOCK_BYTES}`);
  if (!Number.isInteger(Math.log2(resolved.ringBytes)))
    invalidOption('ringBytes', resolved.ringBytes, 'a power of two');
  checkInteger('objectBytesMax', resolved.objectBytesMax, 4096, logBytes / 4);
  return resolved;
}

/** Returns the number of shards, on whichever threads they run. */
export function shardsOf({ indexerThreads }: Pick<ResolvedThreadsOptions, 'indexerThreads'>): number {
  return indexerThreads === 'auto' ? defaultIndexerThreads() : Math.max(1, indexerThreads);
}

/** Threads that read a cache may have small heaps. */
export function defaultDecodedCacheBytes(heapBytes: number = getHeapStatistics().heap_size_limit): number {
  return Math.min(64 * 2 ** 20, Math.floor(heapBytes / 8));
}

/** Returns the memory of the machine, or of the control group if that is less. */
export function availableBytes(
  machineBytes: number = totalmem(),
  constrainedBytes: number = process.constrainedMemory() ?? 0,
): number {
  // 0 means that there is no limit; some systems report a number above the machine's memory instead.
  return constrainedBytes > 0 ? Math.min(machineBytes, constrainedBytes) : machineBytes;
}

/** @param objectBytesMax the given limit, for which there must be room */
export function defaultLogBytes(objectBytesMax: number = 0, memoryBytes: number = availableBytes()): number {
  const blocks = Math.max(
    2,
    Math.floor(memoryBytes / 16 / BLOCK_BYTES),
    Math.ceil((objectBytesMax * 4) / BLOCK_BYTES),
  );
  return Math.min(8, blocks) * BLOCK_BYTES;
}

/** Returns the memory inside or outside of V8's heap, whichever is less: caches and backlogs need both. */
export function leastBytes(
  memoryBytes: number = availableBytes(),
  heapBytes: number = getHeapStatistics().heap_size_limit,
): number {
  return Math.min(memoryBytes, heapBytes);
}

export function defaultBacklogBytesMax(memoryBytes: number = leastBytes()): number {
  return Math.max(2 ** 16, Math.floor(memoryBytes / 4));
}

/** Returns `strict` unless NODE_ENV is production. `strict` rejects the use of a borrowed entry after the call. */
export function defaultRetainChecks(): RetainChecks {
  return process.env['NODE_ENV'] === 'production' ? 'off' : 'strict';
}
