/** The workload of the flags of `kubeloom loadtest`: ConfigMaps, informers of all of them, a constant rate. */
import { stringify } from 'yaml';

export interface WorkloadFlags {
  readonly objects: number;
  readonly objectBytes: number;
  /** Writes a second. */
  readonly rate: number;
  readonly durationSeconds: number;
  readonly informers: number;
  readonly threads: number;
}

/** The flags are their own limits: creations and deletions balance, so twice the objects are never reached. */
export function workloadOfFlags(flags: WorkloadFlags): string {
  const { objects, objectBytes, rate, durationSeconds, informers, threads } = flags;
  return stringify({
    name: 'flags',
    objects: [{ kind: 'ConfigMap', count: objects, size: objectBytes }],
    watchers: [{ name: 'informer', count: informers, threads }],
    phases: [{ create: {} }, { sync: {} }, { steady: { for: `${durationSeconds}s`, rate } }],
    limits: { objects: objects * 2, rate },
  });
}
