/** The options of `waitForSync`, of informers and of their caches in other threads. */
import { checkOptions, having, signal } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import type { SignalOptions } from '../base/signal-options.ts';
import type { HandlerRegistration } from '../replica/deliver/handler.ts';

/** Options of `waitForSync`. */
export interface SyncOptions extends SignalOptions {
  /** Handler to wait for: it must also have received its initial list. */
  readonly registration?: HandlerRegistration;
}

const CHECKS: OptionChecks<SyncOptions> = {
  signal,
  registration: having('what addEventHandler() returned', 'hasSynced'),
};

/** @throws ERR_KUBELOOM_OPTION */
export function checkSyncOptions(options: SyncOptions): void {
  checkOptions('options of waitForSync()', options, CHECKS);
}
