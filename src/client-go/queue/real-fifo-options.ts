/** Options of a RealFIFO, and the check of their combinations. */
import type { KeyFunction } from '../../kube/store.ts';
import { KubeloomError } from '../../base/errors.ts';
import type { Transformer } from './delta.ts';
import type { KnownObjects } from './known-objects.ts';

interface CommonOptions<Item> {
  /** Default `metaNamespaceKeyFunc`. */
  readonly keyFunction?: KeyFunction<Item>;
  readonly transformer?: Transformer<Item>;
  /** Largest number of changes in one batch. Default 1000, client-go's. */
  readonly batchSize?: number;
  readonly name?: string;
  /** Called with the number of queued changes after every change of it. Must not throw. */
  readonly onDepth?: (depth: number) => void;
  /** Called after every processing, successful or not. Must not throw. */
  readonly onProcessed?: (changes: number, durationMs: number) => void;
}

/**
 * Options of atomic events: a list is one `ReplacedAll`, a resync one `SyncAll`; the consumer compares with its store.
 */
export interface AtomicOptions<Item> extends CommonOptions<Item> {
  readonly atomicEvents: true;
  readonly emitDeltaTypeBookmark?: boolean;
  readonly knownObjects?: undefined;
}

/**
 * Options of single events: a list is a deletion for each missing object and a `Replaced` for each item, a resync
 * a `Sync` for each object.
 */
export interface PlainOptions<Item> extends CommonOptions<Item> {
  readonly atomicEvents?: false;
  readonly emitDeltaTypeBookmark?: false;
  /** The objects that the consumer has. */
  readonly knownObjects: KnownObjects<Item>;
}

export type RealFIFOOptions<Item> = AtomicOptions<Item> | PlainOptions<Item>;

/** Checks at run time what the type says. @throws ERR_KUBELOOM_OPTION */
export function checkRealFIFOOptions(options: {
  readonly atomicEvents?: boolean;
  readonly emitDeltaTypeBookmark?: boolean;
  readonly knownObjects?: unknown;
  readonly batchSize?: number;
}): void {
  const { atomicEvents = false, emitDeltaTypeBookmark = false, knownObjects, batchSize = 1 } = options;
  if (atomicEvents && knownObjects !== undefined)
    refuse('knownObjects must not be given with atomicEvents: the consumer compares with its store');
  if (!atomicEvents && knownObjects === undefined)
    refuse('knownObjects must be given without atomicEvents: the queue compares with them to find deletions');
  if (!atomicEvents && emitDeltaTypeBookmark)
    refuse('emitDeltaTypeBookmark needs atomicEvents: without it versions would be delivered out of order');
  if (!Number.isInteger(batchSize) || batchSize < 1)
    refuse(`batchSize must be an integer of at least 1, got ${String(batchSize)}`);
}

function refuse(message: string): never {
  throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
}
