/** The heap of the calling thread after a collection; without a collection the figure would depend on chance. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function collectedHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  // The function is in contexts that are made after the flag.
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
