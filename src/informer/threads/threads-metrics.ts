/**
 * Figures of the threads that informers share, and their metrics: the work of each thread, and the use of the memory.
 */
import type { AddSample, MetricSource } from '../../metrics/collect.ts';
import { threadCpuMs } from '../../base/thread-cpu.ts';
import type { SequenceMerger } from '../../replica/merge/sequence-merger.ts';
import type { DecodedCache } from '../../replica/store/decoded-cache.ts';
import type { PipelineMemory } from '../../shared/pipeline-layout.ts';
import { RingMemory } from '../../shared/ring/ring.ts';
import { readUsage } from '../../shared/thread-usage.ts';
import type { ThreadUsage } from '../../shared/thread-usage.ts';
import { roleName } from './backend.ts';
import type { Role } from './backend.ts';
import type { Supervisor } from './supervisor.ts';

/**
 * Figures of a role so far: the sums over all threads of the role. If a thread died, they lack the figures that it did
 * not publish, and may count an unfinished record twice.
 */
export interface RoleStats {
  /** `reflector`, `shard 0` …, `main`. */
  readonly role: string;
  /** Processed records of all informers. */
  readonly deltas: number;
  /**
   * CPU time, up to 2.5 s old for other threads. Undefined if the platform does not report it, and for roles on the
   * calling thread, whose time is part of `main`.
   */
  readonly cpuMs: number | undefined;
  /**
   * Number of times that work was found without a wake-up. A value above 0 means that the wake-up protocol is broken.
   */
  readonly lostWakeups: number;
  /** Number of times that the end of a thread of this role restarted all threads. */
  readonly restarts: number;
}

/** @internal */
export interface MeasuredThreads {
  readonly memory: PipelineMemory;
  /** Returns whether reflector and shards run on separate threads now. */
  readonly isThreaded: () => boolean;
  /** Publishes the figures of roles on the calling thread. */
  readonly publishUsage: () => void;
  readonly supervisor: Pick<Supervisor, 'restartsOf'>;
  readonly merger: Pick<SequenceMerger, 'records'>;
  readonly decodedCache: Pick<DecodedCache, 'hits' | 'misses' | 'costBytes'>;
  /** Returns the number of records that the reflector published. */
  readonly received: () => number;
  /** Returns the number of wake-ups that the main thread lost. */
  readonly lostWakeups: () => number;
}

/** @internal */
export class ThreadsMetrics implements MetricSource {
  readonly metricsKind = 'threads';
  readonly metricsName = 'threads';
  readonly #threads: MeasuredThreads;
  /** Rings by name: `deltas 0` leads to shard 0, `notifications 0` from it. */
  readonly #rings: readonly (readonly [name: string, ring: RingMemory])[];

  constructor(threads: MeasuredThreads) {
    this.#threads = threads;
    const { toShard, toMain } = threads.memory;
    this.#rings = [
      ...toShard.map((buffer, shard) => [`deltas ${shard}`, new RingMemory(buffer)] as const),
      ...toMain.map((buffer, shard) => [`notifications ${shard}`, new RingMemory(buffer)] as const),
    ];
  }

  stats(): readonly RoleStats[] {
    const { memory, merger, received, lostWakeups } = this.#threads;
    const shards = memory.toShard.map((_, shard) => this.#statsOf(shard, this.#usageOf(shard)));
    // The sequence counts the reflector's records, so they need no publication.
    const read = { ...this.#usageOf('reflector'), records: received() };
    const main: RoleStats = {
      role: 'main',
      deltas: merger.records,
      cpuMs: threadCpuMs(),
      lostWakeups: lostWakeups(),
      restarts: 0,
    };
    return Object.freeze([this.#statsOf('reflector', read), ...shards, Object.freeze(main)]);
  }

  addMetrics(add: AddSample, name: string): void {
    const { memory, isThreaded, publishUsage, decodedCache } = this.#threads;
    const threads = { threads: name };
    for (const { role, deltas, cpuMs, lostWakeups, restarts } of this.stats()) {
      if (role !== 'main' && !isThreaded()) continue;
      const labels = { ...threads, role };
      if (cpuMs !== undefined) add('kubeloom_thread_cpu_seconds_total', labels, cpuMs / 1000);
      add('kubeloom_thread_records_total', labels, deltas);
      add('kubeloom_thread_restarts_total', labels, restarts);
      add('kubeloom_thread_lost_wakeups_total', labels, lostWakeups);
    }
    for (const [ring, { tail, head }] of this.#rings)
      add('kubeloom_ring_used_bytes', { ...threads, ring }, (tail.load() - head.load()) >>> 0);
    add('kubeloom_ring_capacity_bytes', threads, this.#rings[0]?.[1].capacity ?? 0);
    publishUsage();
    const { logUsedBytes, logPausedMs, ringPausedMs } = this.#usageOf('reflector');
    add('kubeloom_log_used_bytes', threads, logUsedBytes);
    add('kubeloom_log_capacity_bytes', threads, memory.log.byteLength);
    const pausedMs = { log: logPausedMs, ring: ringPausedMs };
    for (const [cause, causeMs] of Object.entries(pausedMs))
      add('kubeloom_paused_seconds_total', { ...threads, cause }, causeMs / 1000);
    add('kubeloom_decoded_cache_hits_total', threads, decodedCache.hits);
    add('kubeloom_decoded_cache_misses_total', threads, decodedCache.misses);
    add('kubeloom_decoded_cache_bytes', threads, decodedCache.costBytes);
  }

  #usageOf(role: Role): ThreadUsage {
    const buffer = this.#threads.memory.usage[role === 'reflector' ? 0 : role + 1];
    return readUsage(buffer as SharedArrayBuffer);
  }

  #statsOf(role: Role, { records, cpuMs, lostWakeups }: ThreadUsage): RoleStats {
    const { isThreaded, supervisor } = this.#threads;
    const restarts = supervisor.restartsOf(role);
    return Object.freeze({
      role: roleName(role),
      deltas: records,
      cpuMs: isThreaded() ? cpuMs : undefined,
      lostWakeups,
      restarts,
    });
  }
}
