/** The part of client-go's Controller that a shared informer exposes. */
import type { DoneChecker } from '../base/done-checker.ts';
import type { SignalOptions } from '../base/signal-options.ts';

/** The part of client-go's Controller that a shared informer exposes. */
export interface InformerController {
  /** No effect: call `run` of the informer. */
  run(options?: SignalOptions): Promise<void>;
  hasSynced(): boolean;
  readonly hasSyncedChecker: DoneChecker;
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
