/** Options of a RealFIFO, and which of them go together. */
import type { KeyFunction } from '../cache/store.ts';
import { KubeloomError } from '../errors.ts';
import type { Transformer } from './delta.ts';
import type { KnownObjects } from './known-objects.ts';

interface CommonOptions<Item> {
  /** Default `metaNamespaceKeyFunc`. */
  readonly keyFunction?: KeyFunction<Item>;
  readonly transformer?: Transformer<Item>;
  /** Largest number of changes in one batch. Default 1000, client-go's. */
  readonly batchSize?: number;
  readonly name?: string;
  /** Told of the number of queued changes whenever it has changed. Must not throw. */
  readonly onDepth?: (depth: number) => void;
  /** Told of every processing that has ended, well or badly. Must not throw. */
  readonly onProcessed?: (changes: number, durationMs: number) => void;
}

/** A list is one `ReplacedAll`, a resync one `SyncAll`; the consumer compares with its store. */
export interface AtomicOptions<Item> extends CommonOptions<Item> {
  readonly atomicEvents: true;
  readonly emitDeltaTypeBookmark?: boolean;
  readonly knownObjects?: undefined;
}

/** A list is a deletion for everything it misses and a `Replaced` an item, a resync a `Sync` an object. */
export interface PlainOptions<Item> extends CommonOptions<Item> {
  readonly atomicEvents?: false;
  readonly emitDeltaTypeBookmark?: false;
  /** What the consumer has. */
  readonly knownObjects: KnownObjects<Item>;
}

export type RealFIFOOptions<Item> = AtomicOptions<Item> | PlainOptions<Item>;

/** What the type says, for those who do not check types. @throws ERR_KUBELOOM_OPTION */
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
    refuse('knownObjects must be given without atomicEvents: deletions are found by comparing with them');
  if (!atomicEvents && emitDeltaTypeBookmark)
    refuse('emitDeltaTypeBookmark needs atomicEvents: otherwise versions would come out of order');
  if (!Number.isInteger(batchSize) || batchSize < 1)
    refuse(`batchSize must be an integer of at least 1, got ${String(batchSize)}`);
}

function refuse(message: string): never {
  throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
}
