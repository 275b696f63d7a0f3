/** The handlers of one informer: registering, removing, and the end of all of them. */
import { realClock } from '../clock.ts';
import { wantNumber } from '../options.ts';
import type { HandlerRegistration, ResourceEventHandler } from '../processor/handler.ts';
import { ProcessorListener } from '../processor/processor-listener.ts';
import { ResyncTimer } from '../processor/resync.ts';
import type { SharedProcessor } from '../processor/shared-processor.ts';
import type { Replica } from '../store/replica.ts';
import type { InformerThreads } from '../threads/informer-threads.ts';

export interface HandlersOptions {
  readonly threads: InformerThreads;
  readonly replica: Replica;
  readonly processor: SharedProcessor;
  readonly isStrict: boolean;
  readonly resyncPeriodMs: number;
  readonly onError: (error: unknown, key: string, registeredAt: string) => void;
  /** A registration may have synced. */
  readonly onProgress: () => void;
}

/** Frames of ours above the user's in the stack of a registration. */
const OWN_FRAMES = 3;

export class Handlers {
  readonly #options: HandlersOptions;
  readonly #listeners: Map<HandlerRegistration, ProcessorListener> = new Map();
  readonly #resync: ResyncTimer;
  /** Calls in progress of handlers that were removed: stopping waits for them (contract C8). */
  readonly #running: Set<Promise<unknown>> = new Set();

  constructor(options: HandlersOptions) {
    this.#options = options;
    const { threads, processor, replica } = options;
    this.#resync = new ResyncTimer(realClock, options.resyncPeriodMs, (due) => {
      processor.resync(replica, due);
      threads.kick();
    });
  }

  add(handler: ResourceEventHandler<unknown>, resyncPeriodMs: number | undefined): HandlerRegistration {
    if (resyncPeriodMs !== undefined)
      wantNumber('resyncPeriodMs', resyncPeriodMs, 0, Number.MAX_SAFE_INTEGER);
    const { threads, replica, processor, isStrict, onError, onProgress } = this.#options;
    const listener = new ProcessorListener({
      handler,
      isStrict,
      registeredAt: isStrict ? registrationStack() : '',
      onError,
      onReady: () => threads.kick(),
      onSynced: onProgress,
    });
    const registration: HandlerRegistration = {
      hasSynced: () => listener.hasSynced,
      get backlog() {
        return listener.backlog;
      },
    };
    this.#listeners.set(registration, listener);
    this.#resync.add(listener, resyncPeriodMs ?? this.#options.resyncPeriodMs);
    threads.drain.add(listener);
    processor.add(listener, replica);
    threads.kick();
    return registration;
  }

  /** False when it was not ours, or is gone already. */
  remove(registration: HandlerRegistration): boolean {
    const listener = this.#listeners.get(registration);
    if (!listener) return false;
    this.#listeners.delete(registration);
    this.#options.processor.remove(listener);
    this.#resync.remove(listener);
    this.#options.threads.drain.remove(listener);
    const { running } = listener;
    if (running) {
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    }
    return true;
  }

  /** The cache has synced: resync periods count from here. */
  startResync(): void {
    this.#resync.start();
  }

  /** Drops what is pending and waits for the calls in progress. */
  async close(): Promise<void> {
    this.#resync.stop();
    for (const registration of this.#listeners.keys()) this.remove(registration);
    await Promise.all(this.#running);
  }
}

function registrationStack(): string {
  const stack = new Error('registered').stack ?? '';
  return stack
    .split('\n')
    .slice(1 + OWN_FRAMES)
    .join('\n');
}
