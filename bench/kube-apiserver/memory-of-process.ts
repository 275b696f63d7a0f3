/** Memory of a process of this machine, as Linux counts it. */
import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  readonly rssBytes: number;
  /** The largest resident memory so far. */
  readonly peakBytes: number;
}

export function memoryOf(pid: number): ProcessMemory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string): number =>
    1024 * Number(new RegExp(String.raw`^${name}:\s+(\d+) kB`, 'm').exec(status)?.[1]);
  return { rssBytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') };
}
