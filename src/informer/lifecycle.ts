/**
 * The lifecycle of an informer: created, running, stopped; once, in that order. Stopping follows client-go's order: it
 * ends the input, rejects new handlers, and ends the existing handlers. The lifecycle passes events of the running
 * pipeline on to the informer's health, waits and handlers.
 */
import type { DoneProgress } from '../base/done-checker.ts';
import { KubeloomError, withCode } from '../base/errors.ts';
import { realTimers } from '../base/clock.ts';
import { checkOptions } from '../base/option-checks.ts';
import type { SyncOptions } from './sync-options.ts';
import type { ThreadsHandle } from './threads/default-threads.ts';
import type { ReflectorPhase } from '../shared/protocol.ts';
import { abortable, onAbort } from '../base/on-abort.ts';
import { NotSyncedError, START_ADVICE } from './wait-for.ts';
import type { DoneState } from './wait-for.ts';
import type { WaitCondition } from './wait-condition.ts';
import { SHUT_DOWN_CHECKS } from './handlers.ts';
import type { Handlers, ShutDownOptions } from './handlers.ts';
import type { Health } from './health.ts';
import type { InformerMetrics } from './informer-metrics.ts';
import type { InformerPipeline, PipelineEvents } from './pipeline.ts';
import type { ErrorReporter } from './error-reporter.ts';
import { VersionWaiters } from './version-waiters.ts';

export interface InformerParts {
  readonly name: string;
  readonly pipeline: Pick<InformerPipeline<never>, 'attach' | 'detach' | 'close' | 'replica' | 'onNextMerge'>;
  readonly handlers: Handlers;
  readonly threads: ThreadsHandle;
  readonly reports: ErrorReporter;
  readonly health: Health;
  readonly metrics: Pick<InformerMetrics, 'start'>;
  /** Notified of every change for which a caller may wait. */
  readonly changed: WaitCondition;
  readonly onSynced: () => void;
}

type State =
  | { readonly kind: 'created' }
  | { readonly kind: 'running' }
  | { readonly kind: 'stopped'; readonly hasStarted: boolean };

export class InformerLifecycle {
  readonly #parts: InformerParts;
  readonly #stop: AbortController = new AbortController();
  readonly #ended: Promise<void>;
  #end!: () => void;
  readonly #waiters: VersionWaiters;
  #state: State = { kind: 'created' };
  phase: ReflectorPhase = 'connecting';
  /** Progress of the first list; undefined before it begins and after it is in the cache. */
  progress: DoneProgress | undefined;
  #failure: KubeloomError | undefined;
  /** Whether ERR_KUBELOOM_NOT_STARTED was reported. */
  #isReported = false;
  /** Whether pending notifications are delivered when the informer stops. */
  #drain = false;

  constructor(parts: InformerParts) {
    this.#parts = parts;
    this.#waiters = new VersionWaiters(parts.name);
    this.#ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** Error that ended the informer; undefined if the user stopped it. */
  get failure(): KubeloomError | undefined {
    return this.#failure;
  }

  get hasStarted(): boolean {
    return this.#state.kind === 'running' || (this.#state.kind === 'stopped' && this.#state.hasStarted);
  }

  get isStopped(): boolean {
    return this.#state.kind === 'stopped';
  }

  get isStartedOrStopped(): boolean {
    return this.#state.kind !== 'created';
  }

  checkNotStarted(): void {
    if (this.#state.kind !== 'created') {
      throw new KubeloomError('ERR_KUBELOOM_STARTED', 'informer has already started');
    }
  }

  checkNotStopped(message: string): void {
    if (this.#state.kind === 'stopped') throw new KubeloomError('ERR_KUBELOOM_STOPPED', message);
  }

  /** Rejects reads before start. @throws ERR_KUBELOOM_NOT_STARTED if it was never started, even if it was stopped */
  checkStarted(): void {
    if (!this.hasStarted) throw this.notStarted('cannot be read');
  }

  /** Reports once that a caller waits for an informer that does not run. */
  reportNotStarted(): void {
    if (this.isStartedOrStopped || this.#isReported) return;
    this.#isReported = true;
    this.#parts.reports.report(this.notStarted('is waited for'), 'lifecycle');
  }

  notStarted(what: string, cause?: unknown): KubeloomError {
    const message = `${this.#parts.name} ${what}: it was not started; ${START_ADVICE}`;
    return new KubeloomError('ERR_KUBELOOM_NOT_STARTED', message, cause === undefined ? {} : { cause });
  }

  /** Waits for the first list, or for the initial list of a handler. */
  async waitForSync(syncState: () => DoneState, { signal, registration }: SyncOptions): Promise<void> {
    const { name, pipeline, changed } = this.#parts;
    const { replica } = pipeline;
    const isSynced = (): boolean => (registration ? registration.hasSynced() : replica.hasSynced);
    if (!this.isStartedOrStopped) realTimers.setImmediate(() => this.reportNotStarted());
    try {
      await changed.until(() => isSynced() || this.isStopped, signal);
    } catch (cause) {
      if (!this.isStartedOrStopped) throw this.notStarted('cannot sync', cause);
      const late = registration && replica.hasSynced ? registration.hasSyncedChecker : syncState();
      throw new NotSyncedError('', [late], cause);
    }
    if (isSynced()) return;
    throw this.#failure ?? new KubeloomError('ERR_KUBELOOM_STOPPED', `${name} stopped before it synced`);
  }

  waitForVersion(resourceVersion: string, signal: AbortSignal | undefined): Promise<void> {
    const { pipeline } = this.#parts;
    pipeline.onNextMerge(this.#advance);
    return this.#waiters.wait(resourceVersion, pipeline.replica.live.resourceVersion, signal);
  }

  async run(signal: AbortSignal | undefined): Promise<void> {
    const { name, pipeline, handlers, threads: handle, changed, health } = this.#parts;
    if (this.#state.kind !== 'created') {
      throw new KubeloomError('ERR_KUBELOOM_STARTED', `${name} was started already: an informer runs once`);
    }
    this.#state = { kind: 'running' };
    const endMetrics = this.#parts.metrics.start();
    health.apply({ type: 'started' });
    const anySignal = AbortSignal.any(signal ? [signal, this.#stop.signal] : [this.#stop.signal]);
    try {
      const threads = handle.take();
      handlers.start(threads);
      await pipeline.attach(threads, this.#events, anySignal);
      onAbort(anySignal, () => changed.changed());
      await changed.until(() => anySignal.aborted || this.#failure !== undefined);
    } catch (error) {
      if (!this.#failure) this.#parts.reports.report(withCode(error), 'lifecycle');
      this.#failure ??= withCode(error);
    }
    await pipeline.detach();
    await this.#close(true);
    endMetrics();
    if (this.#failure) throw this.#failure;
  }

  async shutdown(options: ShutDownOptions): Promise<void> {
    checkOptions('options of a shutdown', options, SHUT_DOWN_CHECKS);
    const { drain = false, signal } = options;
    const { name, handlers } = this.#parts;
    this.#drain = drain;
    this.#stop.abort();
    if (this.#state.kind === 'created') void this.#close(false);
    else if (this.#state.kind === 'stopped' && !drain) void handlers.close(false);
    try {
      await abortable(this.#ended, signal);
    } catch (cause) {
      throw new KubeloomError(
        'ERR_KUBELOOM_STILL_RUNNING',
        `${name} is stopping, but has not ended; handlers: ${handlers.names.join(', ') || 'none'}`,
        { cause },
      );
    }
  }

  /** Ends the informer. After a failure of the threads it drops pending notifications: the threads cannot deliver them. */
  async #close(hasStarted: boolean): Promise<void> {
    const { pipeline, handlers, threads, changed, health } = this.#parts;
    this.#state = { kind: 'stopped', hasStarted };
    this.phase = 'stopped';
    health.apply({ type: 'stopped' });
    this.#waiters.close();
    this.#stop.abort();
    changed.changed();
    const closed = threads.threads?.closed;
    const unlisten = closed && onAbort(closed, () => this.#dropPending(withCode(closed.reason)));
    await handlers.close(this.#drain && !this.#failure);
    unlisten?.();
    pipeline.close();
    await threads.release();
    this.#end();
  }

  /** Ends a drain whose threads were closed. @param error ends the informer if notifications are pending */
  #dropPending(error: KubeloomError): void {
    const { handlers, reports } = this.#parts;
    if (this.#failure || handlers.backlogs.every(({ notifications }) => notifications === 0)) return;
    this.#failure = error;
    reports.report(error, 'lifecycle');
    void handlers.close(false);
  }

  /** Resolves the waits for versions that the cache reached. */
  readonly #advance = (): void => {
    const { pipeline } = this.#parts;
    this.#waiters.advance(pipeline.replica.live.resourceVersion);
    if (this.#waiters.size > 0) pipeline.onNextMerge(this.#advance);
  };

  readonly #events: PipelineEvents = {
    phase: (phase) => {
      this.phase = phase;
      this.#parts.health.apply({ type: 'phase', phase });
    },
    progress: (progress) => {
      if (!this.#parts.pipeline.replica.hasSynced) this.progress = progress;
    },
    replaced: () => {
      this.progress = undefined;
      this.#parts.health.apply({ type: 'replaced' });
      this.#advance();
      this.#parts.onSynced();
      this.#parts.handlers.startResync();
      this.#parts.changed.changed();
    },
    failed: (error) => {
      this.#failure = error;
      this.#parts.reports.report(error, 'thread');
      this.#parts.changed.changed();
    },
  };
}
