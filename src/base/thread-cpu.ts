/** CPU time of the calling thread. Node 20 has no call for it, Linux has a file. */
import { readFileSync } from 'node:fs';

export function threadCpuMs(): number | undefined {
  try {
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    // On other systems the time is unknown.
    return undefined;
  }
}
