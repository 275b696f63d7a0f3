/**
 * Every option in one place: unit, default and where it comes from, bound. Relations between options are
 * checked once, when they are resolved; a wrong value is a coded error that says what is right.
 */
import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { KubeloomError } from './errors.ts';
import { BLOCK_BYTES } from './log/layout.ts';

export type Codec = 'json' | 'msgpack';

/** `strict` refuses a borrowed entry as soon as its call is done, `fast` once its bytes are gone. */
export type Lifetimes = 'strict' | 'fast';

/** Options of the threads that informers share. */
export interface ThreadsOptions {
  /**
   * Indexer threads; 0 runs reflector and shard on the calling thread, with identical results.
   * Default: one, and one more for every core beyond three, at most 8.
   */
  readonly threads?: number;
  /** Wire bytes on their way, in shared memory. Default 32 MiB, a multiple of 4 MiB. */
  readonly logBytes?: number;
  /** Each of the 2 × threads rings. Default 4 MiB, a power of two. */
  readonly ringBytes?: number;
  /** An object above is kept by identity only and reading it throws. Default, and at most, a quarter of `logBytes`. */
  readonly recordBytesMax?: number;
  /** Longest time the main thread works before it yields to its event loop. Default 1 ms. */
  readonly drainBudgetMs?: number;
  /**
   * Parsed objects that listers handed out, and metadata that later states of an object share, as far as they are
   * remembered, in bytes of heap. Default 64 MiB.
   */
  readonly decodedCacheBytes?: number;
  /**
   * Objects that have not changed for so long, and up to twice as long, are packed: siblings in a tenth of their size, for
   * 2 µs more a read. Infinity: never. Default 2000 ms.
   */
  readonly packAfterMs?: number;
  /**
   * A thread of kubeloom's that makes no progress for so long is ended and replaced: so long may a module of yours
   * work on one object. Default 5000 ms.
   */
  readonly stallTimeoutMs?: number;
  /**
   * So many times within `restartWindowMs` a thread that ended is replaced; the next time all informers of these
   * threads end with ERR_KUBELOOM_THREAD. Default 10: a machine that cannot keep threads should be told so, and one
   * bad object costs two. 0: never replaced.
   */
  readonly restartsMax?: number;
  /** Default 60 s. */
  readonly restartWindowMs?: number;
  /**
   * Bytes of superseded objects that notifications may keep which handlers have not been told yet, of all informers
   * of these threads. Above half of it handlers that are behind are told of several changes of one object at once;
   * at all of it nothing more is read from the server (docs/bounds.md). At least 64 KiB. Default: a quarter of the
   * smallest of the machine's memory, the limit of the process's control group, and that of V8's heap.
   */
  readonly backlogBytesMax?: number;
  /**
   * When it stays at `backlogBytesMax` for so long, the handler that holds most is removed with
   * ERR_KUBELOOM_HANDLER_OVERFLOW. Default 60 s.
   */
  readonly backlogPauseMsMax?: number;
}

export type ResolvedThreadsOptions = Required<ThreadsOptions>;

/** Threads by cores: the first two cores are the main thread's and the reflector's. */
export function defaultThreads(cores: number = availableParallelism()): number {
  return Math.min(8, Math.max(1, cores - 2));
}

export function resolveThreadsOptions(options: ThreadsOptions = {}): ResolvedThreadsOptions {
  const logBytes = options.logBytes ?? 32 * 2 ** 20;
  const resolved = {
    threads: options.threads ?? defaultThreads(),
    logBytes,
    ringBytes: options.ringBytes ?? 4 * 2 ** 20,
    recordBytesMax: options.recordBytesMax ?? logBytes / 4,
    drainBudgetMs: options.drainBudgetMs ?? 1,
    decodedCacheBytes: options.decodedCacheBytes ?? 64 * 2 ** 20,
    packAfterMs: options.packAfterMs ?? 2000,
    stallTimeoutMs: options.stallTimeoutMs ?? 5000,
    restartsMax: options.restartsMax ?? 10,
    restartWindowMs: options.restartWindowMs ?? 60_000,
    backlogBytesMax: options.backlogBytesMax ?? defaultBacklogBytesMax(),
    backlogPauseMsMax: options.backlogPauseMsMax ?? 60_000,
  };
  wantInteger('threads', resolved.threads, 0, 64);
  wantInteger('logBytes', resolved.logBytes, BLOCK_BYTES, 2 ** 32 - BLOCK_BYTES);
  if (resolved.logBytes % BLOCK_BYTES !== 0)
    refuse('logBytes', resolved.logBytes, `a multiple of ${BLOCK_BYTES}`);
  wantInteger('ringBytes', resolved.ringBytes, 2 ** 14, 2 ** 30);
  if (!Number.isInteger(Math.log2(resolved.ringBytes)))
    refuse('ringBytes', resolved.ringBytes, 'a power of two');
  wantInteger('recordBytesMax', resolved.recordBytesMax, 4096, resolved.logBytes / 4);
  wantNumber('drainBudgetMs', resolved.drainBudgetMs, 0.1, 1000);
  wantInteger('decodedCacheBytes', resolved.decodedCacheBytes, 0, Number.MAX_SAFE_INTEGER);
  if (resolved.packAfterMs !== Infinity) wantNumber('packAfterMs', resolved.packAfterMs, 1, 2 ** 31 - 1);
  wantNumber('stallTimeoutMs', resolved.stallTimeoutMs, 1000, Number.MAX_SAFE_INTEGER);
  wantInteger('restartsMax', resolved.restartsMax, 0, 1000);
  wantNumber('restartWindowMs', resolved.restartWindowMs, 1, Number.MAX_SAFE_INTEGER);
  wantInteger('backlogBytesMax', resolved.backlogBytesMax, 2 ** 16, Number.MAX_SAFE_INTEGER);
  wantNumber('backlogPauseMsMax', resolved.backlogPauseMsMax, 1, 2 ** 31 - 1);
  return resolved;
}

/** A backlog takes memory inside and outside of V8's heap, and may have a part of what each of them has. */
export function defaultBacklogBytesMax(
  machineBytes: number = totalmem(),
  constrainedBytes: number = process.constrainedMemory() ?? 0,
  heapBytes: number = getHeapStatistics().heap_size_limit,
): number {
  // 0 means that nobody has set a limit; some systems say so with a number above all memory.
  const limitBytes = constrainedBytes > 0 ? constrainedBytes : machineBytes;
  return Math.max(2 ** 16, Math.floor(Math.min(machineBytes, limitBytes, heapBytes) / 4));
}

/** `strict` unless NODE_ENV is production: a borrowed entry is refused once its call is done. */
export function defaultLifetimes(): Lifetimes {
  return process.env['NODE_ENV'] === 'production' ? 'fast' : 'strict';
}

export function wantInteger(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    refuse(name, value, `an integer from ${min} to ${max}`);
  }
}

export function wantNumber(name: string, value: number, min: number, max: number): void {
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    refuse(name, value, `a number from ${min} to ${max}`);
  }
}

export function refuse(name: string, value: unknown, expected: string): never {
  throw new KubeloomError('ERR_KUBELOOM_OPTION', `${name} must be ${expected}, got ${String(value)}`);
}
