/** The handlers of one informer: registering, removing, and the end of all of them. */
import type { Clock } from '../clock.ts';
import { KubeloomError } from '../errors.ts';
import { wantNumber } from '../options.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../processor/handler.ts';
import { ProcessorListener } from '../processor/processor-listener.ts';
import { ResyncTimer } from '../processor/resync.ts';
import type { SlowLimits } from '../processor/slow-handler.ts';
import type { SharedProcessor } from '../processor/shared-processor.ts';
import type { Replica } from '../store/replica.ts';
import type { InformerThreads } from '../threads/informer-threads.ts';
import { abortable } from './abortable.ts';
import { Done } from './done.ts';
import type { HandlerHealth } from './health.ts';
import { nameForHandler } from './handler-name.ts';
import { Registration } from './registration.ts';
import { pressureError } from './pressure-error.ts';
import type { Reports } from './reports.ts';

export interface HandlerOptions {
  /** For messages and done checkers. Default: the handler's class, or the names of its functions. */
  readonly name?: string;
  /** Default: the informer's. 0: never. */
  readonly resyncPeriodMs?: number;
}

export interface RemovalOptions {
  /** What is pending is still delivered, and then nothing more. Default: it is dropped. */
  readonly drain?: boolean;
}

export interface ShutDownOptions extends RemovalOptions {
  /** Ends the waiting, not what is waited for. */
  readonly signal?: AbortSignal;
}

export interface HandlersOptions {
  readonly threads: InformerThreads;
  readonly replica: Replica;
  readonly processor: SharedProcessor;
  readonly isStrict: boolean;
  readonly resyncPeriodMs: number;
  readonly slowLimits: SlowLimits;
  readonly clock: Clock;
  readonly reports: Reports;
  /** Of the informer's done checker. */
  readonly syncName: string;
  /** A registration may have synced. */
  readonly onProgress: () => void;
}

/** Frames of ours above the user's in the stack of a registration. */
const OWN_FRAMES = 4;

export class Handlers {
  readonly #options: HandlersOptions;
  /** Until they were removed and their last call has returned: stopping waits for them (contract C8). */
  readonly #listeners: Map<HandlerRegistration, ProcessorListener> = new Map();
  readonly #resync: ResyncTimer;
  /** Of those that have ended. */
  #coalescedBefore = 0;

  constructor(options: HandlersOptions) {
    this.#options = options;
    const { threads, processor, replica, reports, clock, resyncPeriodMs } = options;
    this.#resync = new ResyncTimer({
      clock,
      periodMs: resyncPeriodMs,
      onDue: (due) => {
        processor.resync(replica, due);
        threads.kick();
      },
      onRaised: (message) => reports.report(new KubeloomError('ERR_KUBELOOM_RESYNC_PERIOD', message)),
    });
  }

  add(handler: ResourceEventHandler<never>, options: HandlerOptions): HandlerRegistration {
    const { resyncPeriodMs } = options;
    wantHandler(handler);
    if (resyncPeriodMs !== undefined) {
      wantNumber('resyncPeriodMs', resyncPeriodMs, 0, Number.MAX_SAFE_INTEGER);
    }
    const { threads, replica, processor, syncName } = this.#options;
    const name = options.name ?? nameForHandler(handler);
    const checker = new Done(`${syncName} + event handler ${name}`, () => {
      if (!listener.isOpen) return registration.failure?.message ?? 'the handler was removed';
      if (!replica.hasSynced) return 'the informer has not synced';
      return `${registration.backlog.notifications} notifications are pending`;
    });
    const listener = this.#newListener(handler, name, checker, (failure) => {
      registration.failure = failure;
      checker.fail(failure);
      this.#end(listener, false);
    });
    const registration = new Registration(name, checker, listener);
    this.#listeners.set(registration, listener);
    void listener.ended.then(() => {
      this.#listeners.delete(registration);
      threads.drain.remove(listener);
      this.#coalescedBefore += listener.coalesced;
    });
    this.#resync.add(listener, resyncPeriodMs);
    threads.drain.add(listener);
    processor.add(listener, replica);
    threads.kick();
    return registration;
  }

  /** Nothing happens to one that is not ours, or has ended. A second removal without `drain` drops the rest. */
  remove(registration: HandlerRegistration, { drain = false }: RemovalOptions): void {
    if (!(registration instanceof Registration)) {
      throw new KubeloomError(
        'ERR_KUBELOOM_REGISTRATION',
        'a handler is removed by the registration that addEventHandler() returned for it',
      );
    }
    const listener = this.#listeners.get(registration);
    if (listener) this.#end(listener, drain);
  }

  /** Removes it and waits until its last call has returned. */
  async shutDown(
    registration: HandlerRegistration,
    { drain = false, signal }: ShutDownOptions,
  ): Promise<void> {
    this.remove(registration, { drain });
    const listener = this.#listeners.get(registration);
    if (!listener) return;
    if (listener.isInsideCall) {
      throw new KubeloomError(
        'ERR_KUBELOOM_OWN_CALL',
        `event handler ${registration.name} is removed, but its own call cannot wait for its own end: ` +
          'inside a handler use removeEventHandler()',
      );
    }
    await abortable(listener.ended, signal);
  }

  /** The cache has synced: resync periods count from here. */
  startResync(): void {
    this.#resync.start();
  }

  /** Ends all of them; resolves when the last call has returned. A second time without `drain` drops the rest. */
  async close(drain: boolean): Promise<void> {
    this.#resync.stop();
    const listeners = [...this.#listeners.values()];
    for (const listener of listeners) this.#end(listener, drain);
    await Promise.all(listeners.map(({ ended }) => ended));
  }

  /** Names of those that have something to be told, or are in a call. */
  get busyNames(): readonly string[] {
    return [...this.#listeners].filter(([, listener]) => !listener.isIdle).map(([{ name }]) => name);
  }

  /** What each of those that have not ended has not been told. */
  get backlogs(): readonly HandlerHealth[] {
    return Array.from(this.#listeners.keys(), ({ name, backlog }) => ({ name, ...backlog }));
  }

  /** Notifications that became part of others, of all handlers that there ever were. */
  get coalesced(): number {
    let sum = this.#coalescedBefore;
    for (const { coalesced } of this.#listeners.values()) sum += coalesced;
    return sum;
  }

  /** Names of those that have not ended. */
  get names(): readonly string[] {
    return Array.from(this.#listeners.keys(), ({ name }) => name);
  }

  #newListener(
    handler: ResourceEventHandler<never>,
    name: string,
    checker: Done,
    giveUp: (failure: KubeloomError) => void,
  ): ProcessorListener {
    const { threads, isStrict, clock, slowLimits, reports, onProgress } = this.#options;
    const listener = new ProcessorListener({
      handler,
      isStrict,
      registeredAt: isStrict ? registrationStack() : '',
      clock,
      slowLimits,
      onError: reports.handler,
      onSlow: (callMs) => reports.slowHandler(name, callMs, listener.backlog),
      onReady: () => threads.kick(),
      onPressure: (pressure) => {
        const error = pressureError(name, pressure, listener.backlog);
        reports.report(error);
        if (pressure.kind === 'overflow') {
          giveUp(error);
          onProgress();
        }
      },
      onSynced: () => {
        checker.finish();
        onProgress();
      },
    });
    return listener;
  }

  #end(listener: ProcessorListener, drain: boolean): void {
    this.#options.processor.remove(listener, drain);
    this.#resync.remove(listener);
    this.#options.threads.kick();
  }
}

function wantHandler(handler: unknown): void {
  if (typeof handler === 'object' && handler !== null) return;
  throw new KubeloomError(
    'ERR_KUBELOOM_OPTION',
    `a handler is an object with onAdd, onUpdate and onDelete as far as wanted, got ${String(handler)}`,
  );
}

function registrationStack(): string {
  const stack = new Error('registered').stack ?? '';
  return stack
    .split('\n')
    .slice(1 + OWN_FRAMES)
    .join('\n');
}
