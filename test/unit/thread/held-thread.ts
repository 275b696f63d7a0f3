/**
 * A thread that has the caches of informers, in this thread: a test holds its turns, as code that blocks would. Its ring is
 * small, so that few changes fill it.
 */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { backgroundClock, realClock, realTimers } from '../../../src/base/clock.ts';
import { sharedInformerSpec } from '../../../src/thread/main/attach-reader.ts';
import { Reader } from '../../../src/thread/main/shared-cache.ts';
import type { SharedIndexInformer } from '../../../src/index.ts';
import { PORT_VERSION, allocateLink } from '../../../src/thread/messages.ts';
import { ThreadCache } from '../../../src/thread/worker/open-cache.ts';
import type { ThreadInformer } from '../../../src/thread/worker/thread-informer.ts';
import type { Pod } from '../informer/scene.ts';

const RING_BYTES = 4096;

export class HeldThread {
  /** The main thread's end. */
  readonly reader: Reader;
  readonly cache: ThreadCache<{ readonly pods: Pod }>;
  readonly pods: ThreadInformer<Pod>;
  /** Resolves when the main thread has nothing of the thread any more. */
  readonly ended: Promise<void>;
  #turns: (() => void)[] | undefined;

  constructor(informer: SharedIndexInformer<Pod>) {
    const memory = allocateLink(RING_BYTES);
    const { port1, port2 } = new MessageChannel();
    let end = (): void => undefined;
    this.ended = new Promise((resolve) => (end = resolve));
    this.reader = new Reader(port1, memory, [informer], () => end());
    const run = (callback: () => void): void => {
      if (this.#turns) this.#turns.push(callback);
      else callback();
    };
    const timers = {
      setImmediate: (callback: () => void) => realTimers.setImmediate(() => run(callback)),
      setTimeout: (callback: () => void, delayMs?: number) =>
        realTimers.setTimeout(() => run(callback), delayMs),
    };
    this.cache = new ThreadCache(
      {
        kubeloomCache: PORT_VERSION,
        memory,
        informers: [{ key: 'pods', ...sharedInformerSpec(informer) }],
        transferList: [port2],
      },
      {},
      {
        clock: realClock,
        background: backgroundClock,
        timers: timers as never,
        receive: receiveMessageOnPort,
        hasBell: true,
      },
    );
    this.pods = this.cache.informer('pods');
  }

  /** Resolves when the cache has synced. */
  static async open(informer: SharedIndexInformer<Pod>): Promise<HeldThread> {
    const thread = new HeldThread(informer);
    await thread.pods.waitForSync();
    return thread;
  }

  /** From now on the thread takes no records. */
  block(): void {
    this.#turns ??= [];
  }

  unblock(): void {
    const turns = this.#turns ?? [];
    this.#turns = undefined;
    for (const turn of turns) turn();
  }
}
