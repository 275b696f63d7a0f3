/** The results of a whole differential run. */
import { cpus, totalmem, type, release } from 'node:os';
import type { CaseRun } from './run-case.ts';

export interface DifferentialResults {
  readonly machine: {
    readonly cpus: number;
    readonly cpuModel: string;
    readonly memoryBytes: number;
    readonly system: string;
    readonly node: string;
  };
  /** The version of each client that ran; "not measured: …" for one that could not. */
  readonly versions: Readonly<Record<string, string>>;
  readonly seeds: readonly number[];
  /** The intended rate of changes, and the time that a client has to recover. */
  readonly loadRate: number;
  readonly recoveryMsMax: number;
  readonly startedAt: string;
  readonly elapsedMs: number;
  readonly runs: readonly CaseRun[];
}

export function thisMachine(): DifferentialResults['machine'] {
  const [first] = cpus();
  return {
    cpus: cpus().length,
    cpuModel: first?.model ?? 'unknown',
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
  };
}
