/** The handlers of one informer: registering, removing, and the end of all of them. */
import { realClock } from '../clock.ts';
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

  constructor(options: HandlersOptions) {
    this.#options = options;
    const { threads, processor, replica } = options;
    this.#resync = new ResyncTimer(realClock, options.resyncPeriodMs, (due) => {
      processor.resync(replica, due);
      threads.kick();
    });
  }

  add(handler: ResourceEventHandler<unknown>, resyncPeriodMs: number | undefined): HandlerRegistration {
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

  /** The listener of a registration that was removed; undefined when it was not ours. */
  remove(registration: HandlerRegistration): ProcessorListener | undefined {
    const listener = this.#listeners.get(registration);
    if (!listener) return undefined;
    this.#listeners.delete(registration);
    this.#options.processor.remove(listener);
    this.#resync.remove(listener);
    this.#options.threads.drain.remove(listener);
    return listener;
  }

  /** The cache has synced: resync periods count from here. */
  startResync(): void {
    this.#resync.start();
  }

  /** Drops what is pending and waits for the calls in progress. */
  async close(): Promise<void> {
    this.#resync.stop();
    const running: Promise<unknown>[] = [];
    for (const registration of this.#listeners.keys()) {
      const call = this.remove(registration)?.running;
      if (call) running.push(call);
    }
    await Promise.all(running);
  }
}

function registrationStack(): string {
  const stack = new Error('registered').stack ?? '';
  return stack
    .split('\n')
    .slice(1 + OWN_FRAMES)
    .join('\n');
}
