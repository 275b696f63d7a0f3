/** The part of client-go's Controller that a shared informer exposes. */
import type { DoneChecker } from '../base/done-checker.ts';
import type { SignalOptions } from '../base/signal-options.ts';

/** The part of client-go's Controller that a shared informer exposes. */
export interface InformerController {
  /** No effect: call `run` of the informer. */
  run(options?: SignalOptions): Promise<void>;
  /** Returns whether the first list is in the cache. Stays true. */
  hasSynced(): boolean;
  /** Done checker of the first sync, for `waitFor`. */
  readonly hasSyncedChecker: DoneChecker;
  /** Returns the resourceVersion of the cache; empty before the first list. */
  lastSyncResourceVersion(): string;
}

/** Returns a view of an informer that cannot run it. */
export function controllerOf(informer: Omit<InformerController, 'run'>): InformerController {
  return {
    run: () => Promise.resolve(),
    hasSynced: () => informer.hasSynced(),
    hasSyncedChecker: informer.hasSyncedChecker,
    lastSyncResourceVersion: () => informer.lastSyncResourceVersion(),
  };
}
