/**
 * The life of one informer: created, running, stopped; once, in that order. client-go's order at the end: no
 * more input, then no more handlers, then the end of those that are there.
 */
import { KubeloomError } from '../errors.ts';
import type { ThreadsLease } from '../threads/default-threads.ts';
import type { ReflectorPhase } from '../threads/protocol.ts';
import { abortable } from './abortable.ts';
import type { Condition } from './condition.ts';
import type { Handlers, ShutDownOptions } from './handlers.ts';
import type { InformerPipeline, PipelineEvents } from './pipeline.ts';
import type { Reports } from './reports.ts';
import type { Vitals } from './vitals.ts';

export interface InformerParts {
  readonly name: string;
  readonly pipeline: Pick<InformerPipeline<never>, 'attach' | 'detach' | 'close' | 'replica'>;
  readonly handlers: Handlers;
  readonly lease: ThreadsLease;
  readonly reports: Reports;
  readonly vitals: Vitals;
  /** Told of whatever somebody may be waiting for. */
  readonly changed: Condition;
  readonly onSynced: () => void;
}

type State =
  | { readonly kind: 'created' }
  | { readonly kind: 'running' }
  | { readonly kind: 'stopped'; readonly hasStarted: boolean };

export class InformerLife {
  readonly #parts: InformerParts;
  readonly #stop: AbortController = new AbortController();
  readonly #ended: Promise<void>;
  #end!: () => void;
  #state: State = { kind: 'created' };
  #phase: ReflectorPhase = 'connecting';
  #failure: KubeloomError | undefined;
  /** Whether handlers are still told what is pending when it stops. */
  #drain = false;

  constructor(parts: InformerParts) {
    this.#parts = parts;
    this.#ended = new Promise((resolve) => (this.#end = resolve));
  }

  get phase(): ReflectorPhase {
    return this.#phase;
  }

  /** What ended it, when that was not its user. */
  get failure(): KubeloomError | undefined {
    return this.#failure;
  }

  get hasStarted(): boolean {
    return this.#state.kind === 'running' || (this.#state.kind === 'stopped' && this.#state.hasStarted);
  }

  get isStopped(): boolean {
    return this.#state.kind === 'stopped';
  }

  wantNotStarted(): void {
    if (this.#state.kind !== 'created') {
      throw new KubeloomError('ERR_KUBELOOM_STARTED', 'informer has already started');
    }
  }

  wantNotStopped(message: string): void {
    if (this.#state.kind === 'stopped') throw new KubeloomError('ERR_KUBELOOM_STOPPED', message);
  }

  async run(signal: AbortSignal | undefined): Promise<void> {
    const { name, pipeline, changed } = this.#parts;
    if (this.#state.kind !== 'created') {
      throw new KubeloomError('ERR_KUBELOOM_STARTED', `${name} was started already: an informer runs once`);
    }
    this.#state = { kind: 'running' };
    this.#parts.vitals.started();
    const anySignal = AbortSignal.any(signal ? [signal, this.#stop.signal] : [this.#stop.signal]);
    try {
      await pipeline.attach(this.#events);
      anySignal.addEventListener('abort', () => changed.changed(), { once: true });
      await changed.until(() => anySignal.aborted || this.#failure !== undefined);
    } catch (error) {
      if (!this.#failure) this.#parts.reports.report(error as KubeloomError);
      this.#failure ??= error as KubeloomError;
    }
    await pipeline.detach();
    await this.#close(true);
    if (this.#failure) throw this.#failure;
  }

  async shutdown({ drain = false, signal }: ShutDownOptions): Promise<void> {
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
        `${name} is stopping, but has not ended; its handlers: ${handlers.names.join(', ') || 'none'}`,
        { cause },
      );
    }
  }

  /** The threads cannot tell handlers anything any more once they have failed. */
  async #close(hasStarted: boolean): Promise<void> {
    const { pipeline, handlers, lease, changed, vitals } = this.#parts;
    this.#state = { kind: 'stopped', hasStarted };
    this.#phase = 'stopped';
    vitals.stopped();
    changed.changed();
    await handlers.close(this.#drain && !this.#failure);
    pipeline.close();
    await lease.release();
    this.#end();
  }

  readonly #events: PipelineEvents = {
    phase: (phase) => {
      this.#phase = phase;
      this.#parts.vitals.phase(phase);
    },
    progress: (progress) => this.#parts.vitals.progressed(progress),
    merged: () => this.#parts.vitals.merged(this.#parts.pipeline.replica.live.resourceVersion),
    replaced: () => {
      this.#parts.vitals.replaced(this.#parts.pipeline.replica.live.resourceVersion);
      this.#parts.onSynced();
      this.#parts.handlers.startResync();
      this.#parts.changed.changed();
    },
    failed: (error) => {
      this.#failure = error;
      this.#parts.reports.report(error);
      this.#parts.changed.changed();
    },
  };
}
