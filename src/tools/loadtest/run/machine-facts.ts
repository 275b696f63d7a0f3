/** The machine of this process, for reports. */
import { cpus, totalmem } from 'node:os';
import type { RunFacts } from '../result.ts';

export function machineFacts(): RunFacts['machine'] {
  const processors = cpus();
  return {
    platform: process.platform,
    architecture: process.arch,
    cpuModel: processors[0]?.model ?? 'unknown',
    cpus: processors.length,
    memoryBytes: totalmem(),
  };
}
