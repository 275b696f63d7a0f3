/** The readings of an object that the fuzz of writers compares, and the thread that reads each object from the cache. */
import { parentPort, workerData } from 'node:worker_threads';
import { openCache } from '../../src/thread/index.ts';
import type { CachePort } from '../../src/thread/index.ts';
import type { CachedObject } from '../../src/index.ts';

export const FIELDS = ['spec.nodeName', 'metadata.annotations.note', 'status', '__proto__'] as const;

export interface Kube {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  } & Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
  readonly data?: unknown;
  readonly status?: unknown;
}

/** Adds labels and annotations as JavaScript adds members: behind all others. */
export function decorate<T>(given: T): T {
  const { metadata } = given as Kube;
  metadata.labels = { ...metadata.labels, team: 'x' };
  metadata.annotations ??= {};
  metadata.annotations['note'] = 'decorated';
  return given;
}

export interface Seen {
  readonly name: string;
  readonly version: string;
  readonly [member: string]: unknown;
}

type Entry = Omit<CachedObject<object>, 'kept'>;

/** Reads a parsed object, or an entry: members and facts before the object. */
export function seenOf(from: Entry | { readonly object: Kube }): Seen {
  if ('key' in from) {
    const {
      name,
      resourceVersion: version,
      uid,
      labels,
      fields,
      generation,
      deletionTimestamp,
      controllerUid,
    } = from;
    const members = ['spec', 'data', 'status'].map((member) => from.member(member));
    return {
      name,
      version,
      uid,
      labels,
      fields,
      generation,
      deletionTimestamp,
      controllerUid,
      members,
      object: from.object,
    };
  }
  const { metadata, spec, data, status } = from.object;
  const owners = (metadata['ownerReferences'] ?? []) as readonly { controller?: boolean; uid: string }[];
  const fields = {
    'spec.nodeName': (spec as { nodeName?: unknown } | undefined)?.nodeName ?? undefined,
    'metadata.annotations.note': metadata.annotations?.['note'],
    status: status ?? undefined,
  };
  return {
    name: metadata.name,
    version: metadata.resourceVersion,
    uid: metadata.uid,
    labels: metadata.labels ?? {},
    fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    generation: metadata['generation'],
    deletionTimestamp: metadata['deletionTimestamp'],
    controllerUid: owners.find(({ controller }) => controller)?.uid,
    members: [spec, data, status],
    object: from.object,
  };
}

if (parentPort && workerData !== null) {
  const port = parentPort;
  const { cachePort, names } = workerData as {
    readonly cachePort: CachePort;
    readonly names: readonly string[];
  };
  const cache = await openCache<Record<string, object>>(cachePort);
  for (const where of names) {
    const tell = (entry: Entry): void => port.postMessage([where, seenOf(entry)]);
    cache.informer(where).addEventHandler({ onAdd: tell, onUpdate: (_, entry) => tell(entry) });
  }
  port.postMessage(['opened', { name: '', version: '' }]);
}
