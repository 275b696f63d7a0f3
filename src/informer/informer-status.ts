/**
 * The status of a running informer, updated by the informer's events: its health, the waits for a version of its cache,
 * the progress of its first list, and the detection of writes to shared objects.
 */
import { backgroundClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import type { DoneProgress } from '../base/done-checker.ts';
import { CacheMutationDetector } from './mutation/cache-mutation-detector.ts';
import { deepFreeze } from './mutation/deep-freeze.ts';
import type { ReflectorPhase } from '../shared/protocol.ts';
import { Health } from './health.ts';
import type { HealthSource } from './health.ts';
import type { MutationDetection } from './options.ts';
import type { ErrorReporter } from './error-reporter.ts';
import { VersionWaiters } from './version-waiters.ts';

export interface InformerStatusOptions {
  readonly name: string;
  readonly staleAfterMs: number;
  readonly mutationDetector: MutationDetection;
  /** Default: a clock whose timers do not keep the process running. */
  readonly clock: Clock | undefined;
  readonly reports: ErrorReporter;
  readonly source: () => HealthSource;
}

export class InformerStatus {
  readonly health: Health;
  readonly #options: InformerStatusOptions;
  readonly #clock: Clock;
  readonly #waiters: VersionWaiters;
  readonly #detector: CacheMutationDetector | undefined;
  readonly #ended: AbortController = new AbortController();
  /** Progress of the first list; undefined before it begins and after it is in the cache. */
  #progress: DoneProgress | undefined;
  #isSynced = false;

  constructor(options: InformerStatusOptions) {
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

  /** Function that receives every decoded object before the reader does; undefined when detection is off. */
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
    this.health.apply({ type: 'started' });
    void this.#detector?.run(this.#ended.signal);
  }

  phase(phase: ReflectorPhase): void {
    this.health.apply({ type: 'phase', phase });
  }

  progressed(progress: DoneProgress): void {
    if (!this.#isSynced) this.#progress = progress;
  }

  /** Called once for a batch of records. */
  merged(resourceVersion: string): void {
    this.health.merged();
    this.#waiters.advance(resourceVersion);
  }

  replaced(resourceVersion: string): void {
    this.#isSynced = true;
    this.#progress = undefined;
    this.health.apply({ type: 'replaced' });
    this.#waiters.advance(resourceVersion);
  }

  errored(): void {
    this.health.apply({ type: 'error' });
  }

  stopped(): void {
    this.health.apply({ type: 'stopped' });
    this.#waiters.close();
    this.#ended.abort();
  }
}
