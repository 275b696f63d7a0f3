/**
 * The present backend of informers, and its change from the calling thread to worker threads (`backend-step.ts`). Worker
 * threads load their code while the calling thread goes on, so that no informer waits for their start.
 */
import type { Clock } from '../../base/clock.ts';
import { KubeloomError, firstLineOf } from '../../base/errors.ts';
import type { PipelineMemory } from '../../shared/pipeline-layout.ts';
import type { ShardSpec } from '../../shared/protocol.ts';
import type { OnRead } from '../../reflector/reflector-session.ts';
import { firstBackend, stepBackend } from './backend-step.ts';
import type { BackendEvent, BackendState } from './backend-step.ts';
import type { Backend, BackendEvents, StartingBackend, ThreadsParts } from './backend.ts';
import { InProcessBackend } from './in-process-backend.ts';
import { START_TIMEOUT_MS, heartbeatMsOf } from './supervisor-step.ts';
import { mayThreadsPay } from './threads-options.ts';
import type { ResolvedThreadsOptions } from './threads-options.ts';
import { WorkerBackend, workerUrl } from './worker-backend.ts';

export interface BackendsOptions {
  readonly memory: PipelineMemory;
  readonly options: ResolvedThreadsOptions;
  readonly parts: ThreadsParts;
  readonly clock: Clock;
  /** Requests a turn on this thread. */
  readonly wake: () => void;
  readonly events: BackendEvents;
  /** Called when worker threads are `current`, and before they receive a message. */
  readonly changed: () => void;
  /** Reports that worker threads could not be started, and that the calling thread goes on. */
  readonly refused: (error: KubeloomError) => void;
}

export class Backends {
  current: Backend;
  readonly #options: BackendsOptions;
  #choice: BackendState;
  /** Worker threads that load their code. */
  #starting: StartingBackend | undefined;
  #endStartTimer: () => void = () => undefined;
  #isUnref: boolean;
  #isClosed = false;

  /**
   * @param spec of the first informer
   * @throws ERR_KUBELOOM_WORKER_FILE in a bundle without the entries of the threads, which may be used later
   */
  constructor(options: BackendsOptions, spec: ShardSpec, isUnref: boolean) {
    const { indexerThreads } = options.options;
    this.#options = options;
    this.#isUnref = isUnref;
    this.#choice = firstBackend(indexerThreads, {
      needsThreads: hasModules(spec) || isUnref,
      mayPay: mayThreadsPay(options.parts.cores),
    });
    if (this.#choice.kind === 'calling-thread') for (const name of ENTRIES) workerUrl(name);
    this.current = this.#newBackend();
  }

  /** Replaces a backend that has ended. */
  restart(): void {
    this.current = this.#newBackend();
  }

  /** Returns whether an informer may be attached only after the change. Begins the change unless it has begun. */
  mustWait(spec: ShardSpec): boolean {
    if (!hasModules(spec)) return false;
    this.#happened({ type: 'need' });
    return this.#choice.kind === 'starting' || this.#choice.kind === 'on-need';
  }

  unref(): void {
    this.#isUnref = true;
    this.#happened({ type: 'need' });
    this.current.unref();
    this.#starting?.unref();
  }

  /** Terminates worker threads that start; no change follows. */
  async endStart(): Promise<void> {
    this.#isClosed = true;
    this.#endStartTimer();
    await this.#starting?.end();
  }

  async close(): Promise<void> {
    await Promise.all([this.current.close(), this.endStart()]);
  }

  #newBackend(): Backend {
    if (this.#choice.kind === 'worker-threads') return this.#newWorkers();
    const { memory, parts, clock, wake, events } = this.#options;
    const read: OnRead = (bytes, isListing) =>
      this.#happened({ type: 'read', bytes, isListing, nowMs: clock.now() });
    const reading = this.#choice.kind === 'calling-thread' ? { ...events, read } : events;
    const backend =
      parts.backend?.(memory, reading, wake) ?? new InProcessBackend(memory, reading, wake, clock);
    if (this.#isUnref) backend.unref();
    return backend;
  }

  #newWorkers(died: BackendEvents['died'] = this.#options.events.died): StartingBackend {
    const { memory, options, parts, wake } = this.#options;
    const events = { ...this.#options.events, died };
    const { stallTimeoutMs, readWindowMs } = options;
    const times = { heartbeatMs: heartbeatMsOf(stallTimeoutMs), readWindowMs };
    const workers = parts.workers?.(memory, events, wake) ?? new WorkerBackend(memory, events, times);
    if (this.#isUnref) workers.unref();
    return workers;
  }

  #happened(event: BackendEvent): void {
    if (this.#isClosed) return;
    const { state, effect } = stepBackend(this.#choice, event);
    this.#choice = state;
    if (effect === 'start') this.#start();
    else if (effect === 'change') this.#change();
  }

  #start(): void {
    let starting: StartingBackend;
    try {
      starting = this.#newWorkers((role, cause) => {
        if (this.current === starting) this.#options.events.died(role, cause);
        else this.#refused(cause);
      });
    } catch (cause) {
      this.#refused(cause);
      return;
    }
    this.#starting = starting;
    this.#endStartTimer = this.#options.clock.schedule(START_TIMEOUT_MS, () => {
      this.#refused(new Error(`they were not ready within ${START_TIMEOUT_MS} ms`));
    });
    void starting.ready.then(() => {
      if (this.#starting === starting) this.#happened({ type: 'ready' });
    });
  }

  #change(): void {
    if (!this.#starting) return;
    this.#endStartTimer();
    // Roles on the calling thread end within the call.
    void this.current.end();
    this.current = this.#starting;
    this.#starting = undefined;
    this.#options.changed();
  }

  #refused(cause: unknown): void {
    const starting = this.#starting;
    this.#starting = undefined;
    this.#endStartTimer();
    void starting?.end();
    if (this.#choice.kind !== 'starting' || this.#isClosed) return;
    this.#happened({ type: 'failed' });
    const message = `worker threads did not start, and the informers stay on the calling thread: ${firstLineOf(cause)}`;
    this.#options.refused(new KubeloomError('ERR_KUBELOOM_THREAD_RESTARTED', message, { cause }));
  }
}

const ENTRIES = ['reflector', 'indexer'] as const;

function hasModules({ transformModule, indexModules }: ShardSpec): boolean {
  return transformModule !== undefined || indexModules.length > 0;
}
