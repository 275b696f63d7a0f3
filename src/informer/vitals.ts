/**
 * What an informer knows of itself while it runs, all told by the same few events: its health, who waits for a
 * version of its cache, how far its first list is, and who writes to what is shared.
 */
import { backgroundClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { DoneProgress } from '../done-checker.ts';
import { CacheMutationDetector } from '../mutation/cache-mutation-detector.ts';
import { deepFreeze } from '../mutation/deep-freeze.ts';
import type { ReflectorPhase } from '../threads/protocol.ts';
import { Health } from './health.ts';
import type { HealthSource } from './health.ts';
import type { MutationDetection } from './options.ts';
import type { Reports } from './reports.ts';
import { VersionWaiters } from './version-waiters.ts';

export interface VitalsOptions {
  readonly name: string;
  readonly staleAfterMs: number;
  readonly mutationDetector: MutationDetection;
  /** Default: one whose timers let the process end. */
  readonly clock: Clock | undefined;
  readonly reports: Reports;
  readonly source: () => HealthSource;
}

export class Vitals {
  readonly health: Health;
  readonly #options: VitalsOptions;
  readonly #clock: Clock;
  readonly #waiters: VersionWaiters;
  readonly #detector: CacheMutationDetector | undefined;
  readonly #ended: AbortController = new AbortController();
  /** Of the first list; undefined before it, and when it is in the cache. */
  #progress: DoneProgress | undefined;
  #isSynced = false;

  constructor(options: VitalsOptions) {
    const { name, staleAfterMs, reports, source, mutationDetector } = options;
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
    this.#waiters = new VersionWaiters(name);
    this.health = new Health({
      clock: this.#clock,
      staleAfterMs,
      source,
      onListenerError: (cause) => reports.listener('a health listener', cause),
      ...(options.clock ? { wallNow: () => this.#clock.now() } : {}),
    });
    if (mutationDetector === 'compare') {
      this.#detector = new CacheMutationDetector({
        name,
        clock: this.#clock,
        failureFunc: (failure) => reports.mutation(failure),
      });
    }
  }

  /** Called with everything that is decoded, before anybody sees it; undefined when nobody wants to know. */
  get guard(): ((tree: unknown, key: string) => void) | undefined {
    const detector = this.#detector;
    if (detector) return (tree, key) => detector.addObject(tree, key);
    return this.#options.mutationDetector === 'freeze' ? deepFreeze : undefined;
  }

  get progress(): DoneProgress | undefined {
    return this.#progress;
  }

  waitForVersion(resourceVersion: string, signal: AbortSignal | undefined): Promise<void> {
    return this.#waiters.wait(resourceVersion, this.#options.source().resourceVersion, signal);
  }

  started(): void {
    this.health.tell({ type: 'started' });
    void this.#detector?.run(this.#ended.signal);
  }

  phase(phase: ReflectorPhase): void {
    this.health.tell({ type: 'phase', phase });
  }

  progressed(progress: DoneProgress): void {
    if (!this.#isSynced) this.#progress = progress;
  }

  /** Once for a batch of records. */
  merged(resourceVersion: string): void {
    this.health.merged();
    this.#waiters.advance(resourceVersion);
  }

  replaced(resourceVersion: string): void {
    this.#isSynced = true;
    this.#progress = undefined;
    this.health.tell({ type: 'replaced' });
    this.#waiters.advance(resourceVersion);
  }

  errored(): void {
    this.health.tell({ type: 'error' });
  }

  stopped(): void {
    this.health.tell({ type: 'stopped' });
    this.#waiters.close();
    this.#ended.abort();
  }
}
