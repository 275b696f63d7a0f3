/** Metrics of the threads that informers share: their CPU time, and how full the memory between them is. */
import type { AddSample, MetricSource } from '../../base/metrics/collect.ts';
import { threadCpuMs } from '../../base/thread-cpu.ts';
import type { PipelineMemory } from '../../shared/layout.ts';
import { RingMemory } from '../../shared/ring/ring.ts';
import { readUsage } from '../../shared/thread-usage.ts';
import { roleName } from './backend.ts';
import type { Role } from './backend.ts';

export interface MeasuredThreads {
  readonly memory: PipelineMemory;
  /** Whether reflector and shards have threads of their own. */
  readonly isThreaded: boolean;
  /** Replacements of a thread so far. */
  restarts(role: Role): number;
  /** Wake-ups that the main thread has lost. */
  lostWakeups(): number;
}

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

  addMetrics(add: AddSample, name: string): void {
    const { memory, isThreaded } = this.#threads;
    const threads = { threads: name };
    const main = { ...threads, role: 'main' };
    add('kubeloom_thread_cpu_seconds_total', main, (threadCpuMs() ?? 0) / 1000);
    add('kubeloom_thread_lost_wakeups_total', main, this.#threads.lostWakeups());
    if (isThreaded) memory.usage.forEach((buffer, index) => this.#addThread(add, name, buffer, index));
    for (const [ring, { tail, head }] of this.#rings)
      add('kubeloom_ring_used_bytes', { ...threads, ring }, (tail.load() - head.load()) >>> 0);
    add('kubeloom_ring_capacity_bytes', threads, this.#rings[0]?.[1].capacity ?? 0);
    add('kubeloom_log_capacity_bytes', threads, memory.log.byteLength);
  }

  #addThread(add: AddSample, threads: string, buffer: SharedArrayBuffer, index: number): void {
    const role: Role = index === 0 ? 'reflector' : index - 1;
    const labels = { threads, role: roleName(role) };
    const { cpuMs, records, lostWakeups } = readUsage(buffer);
    add('kubeloom_thread_cpu_seconds_total', labels, cpuMs / 1000);
    add('kubeloom_thread_records_total', labels, records);
    add('kubeloom_thread_restarts_total', labels, this.#threads.restarts(role));
    add('kubeloom_thread_lost_wakeups_total', labels, lostWakeups);
  }
}
