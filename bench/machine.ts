/** The facts about the machine that a reader needs to judge a figure. */
import { execFileSync } from 'node:child_process';
import type { StdioOptions } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly os: string;
  readonly node: string;
  readonly v8: string;
  /** Over the last minute, before the run. */
  readonly loadAverage: number;
  readonly date: string;
  readonly commit: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    os: `${type()} ${release()}`,
    node: process.version,
    v8: process.versions.v8,
    loadAverage: loadavg()[0] ?? 0,
    date: new Date().toISOString(),
    commit: commit(),
  };
}

function commit(): string {
  try {
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio }).trim();
  } catch {
    return 'unknown';
  }
}

export function machineText({ cores, cpu, memoryBytes, node, os, commit, loadAverage }: Machine): string {
  const memory = `${Math.round(memoryBytes / 2 ** 30)} GiB`;
  return `${cores} × ${cpu}, ${memory}, ${os}, Node ${node}, commit ${commit}, load ${loadAverage.toFixed(1)}`;
}
