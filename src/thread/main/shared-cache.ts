/**
 * Caches for other threads of the program: the main thread sends each thread a port, and `openCache` of
 * `kubeloom/thread` reads the same objects in the same memory (docs/decisions/0025).
 */
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { realTimers } from '../../base/clock.ts';
import { KubeloomError, withCode } from '../../base/errors.ts';
import { anObject, invalidOption } from '../../base/option-checks.ts';
import { PORT_VERSION, allocateLink } from '../messages.ts';
import type { FromReader, LinkMemory, SharedInformerSpec } from '../messages.ts';
import { ReaderLink } from './reader-link.ts';
import { START_ADVICE } from '../../informer/wait-for.ts';
import { attachReader, sharedInformerSpec } from './attach-reader.ts';
import type { ExportedCache } from './attach-reader.ts';
import type { Shareable } from '../../informer/shareable.ts';

/**
 * Closes the port of a cache port that the program dropped, which also closes the other end. A port that was sent is no
 * longer here.
 */
const unsent: FinalizationRegistry<MessagePort> = new FinalizationRegistry((port) => port.close());

/** A port for a single thread. Send it once: as `workerData`, or with `postMessage`, together with `transferList`. */
export interface CachePort {
  /** @internal */
  readonly kubeloomCache: typeof PORT_VERSION;
  /** @internal */
  readonly memory: LinkMemory;
  /** @internal */
  readonly informers: readonly SharedInformerSpec[];
  /** The list of the call that sends the port. */
  readonly transferList: [MessagePort];
}

/**
 * The caches of informers for other threads. Each thread keeps a separate replica with keys, indexes and versions; the
 * objects themselves stay in the main thread's memory and are read from it.
 */
export class SharedCache {
  readonly #informers: ReadonlyMap<string, Shareable>;
  readonly #readers: Set<Reader> = new Set();
  #isClosed = false;

  /** @param informers the informers by the names under which threads ask for them */
  constructor(informers: Readonly<Record<string, Shareable>>) {
    anObject('the informers of a shared cache', informers);
    const entries = Object.entries(informers);
    if (entries.length === 0)
      invalidOption('the informers of a shared cache', informers, 'at least one, by its name');
    for (const [key, informer] of entries) {
      if (typeof Reflect.get(Object(informer), 'sharedParts') !== 'object')
        invalidOption(key, informer, 'an informer');
    }
    this.#informers = new Map(entries);
  }

  /** Number of threads that opened a port and did not end. */
  get threads(): number {
    let threads = 0;
    for (const { isOpen } of this.#readers) if (isOpen) threads++;
    return threads;
  }

  /** @internal Number of ports, including ports that no thread opened. */
  get ports(): number {
    return this.#readers.size;
  }

  /** Number of states that threads hold, summed over all threads; these states are neither freed nor packed. */
  get exportedStates(): number {
    let states = 0;
    for (const { exportedStates } of this.#readers) states += exportedStates;
    return states;
  }

  /** @internal The versions of the caches on this thread, in the order of a port's informers. */
  get resourceVersions(): readonly string[] {
    return Array.from(this.#informers.values(), (informer) => informer.lastSyncResourceVersion());
  }

  /** @internal @throws ERR_KUBELOOM_STOPPED if any of the informers has ended */
  checkRunning(): void {
    const stopped = [...this.#informers.values()].filter((informer) => informer.isStopped());
    if (stopped.length === 0) return;
    const names = stopped.map(({ name }) => name).join(', ');
    throw new KubeloomError('ERR_KUBELOOM_STOPPED', `${names} has stopped: the cache no longer changes`);
  }

  /**
   * Returns a port for a further thread.
   *
   * @throws ERR_KUBELOOM_NOT_STARTED before the informers run: their fields and indexes are not final
   */
  port(): CachePort {
    if (this.#isClosed)
      throw new KubeloomError(
        'ERR_KUBELOOM_STOPPED',
        'the shared cache is closed; create another shared cache',
      );
    for (const { name } of [...this.#informers.values()].filter((informer) => !informer.hasStarted())) {
      const message = `${name} cannot be shared yet: it was not started; ${START_ADVICE}`;
      throw new KubeloomError('ERR_KUBELOOM_NOT_STARTED', message);
    }
    const memory = allocateLink();
    const { port1, port2 } = new MessageChannel();
    this.#readers.add(
      new Reader(port1, memory, [...this.#informers.values()], (reader) => this.#readers.delete(reader)),
    );
    const informers = Array.from(this.#informers, ([key, informer]) => ({
      key,
      ...sharedInformerSpec(informer),
    }));
    const port: CachePort = { kubeloomCache: PORT_VERSION, memory, informers, transferList: [port2] };
    unsent.register(port, port2);
    return port;
  }

  /**
   * Ends all ports. The handlers in the threads receive the pending notifications; after that the threads' caches are
   * no longer readable. Resolves when no thread holds a state.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#readers, (reader) => reader.close()));
  }

  /** Calls `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * @internal A reading thread. The port closes when the thread ends, for any reason; after that no memory is kept for
 *   the thread.
 */
export class Reader {
  readonly #port: MessagePort;
  readonly #link: ReaderLink;
  readonly #informers: readonly Shareable[];
  #attached: ExportedCache[] = [];
  #hasOpened = false;
  isOpen = false;
  readonly #ended: Promise<void>;

  constructor(
    port: MessagePort,
    memory: LinkMemory,
    informers: readonly Shareable[],
    ended: (reader: Reader) => void,
  ) {
    this.#port = port;
    this.#informers = informers;
    this.#link = new ReaderLink(memory, { post: (message) => port.postMessage(message), broken: warn });
    this.#ended = new Promise((resolve) => {
      port.once('close', () => {
        void this.#end().finally(() => {
          ended(this);
          resolve();
        });
      });
    });
    port.on('message', (message: FromReader) => {
      if (message.type === 'open') this.#open();
      else this.#link.runOnce();
    });
    // The thread itself keeps the process alive.
    port.unref();
  }

  get exportedStates(): number {
    return this.#link.exportedCount;
  }

  close(): Promise<void> {
    this.#port.ref();
    // A thread that opened the port may be reading: the thread closes the port after the last read.
    if (this.isOpen) {
      for (const exported of this.#attached) exported.leave();
      this.#link.finish();
    } else {
      // A thread that opens the port later finds the link closed.
      this.#hasOpened = true;
      this.#link.close();
      this.#port.close();
    }
    return this.#ended;
  }

  /** Delivers all informers. An informer that stopped, or cannot be delivered, counts as stopped for the thread. */
  #open(): void {
    if (this.#hasOpened) return;
    this.#hasOpened = true;
    this.isOpen = true;
    this.#port.postMessage({ type: 'opened' });
    for (const [number, informer] of this.#informers.entries()) {
      try {
        this.#attached.push(attachReader(this.#link, number, informer));
      } catch (error) {
        this.#link.end(number, withCode(error));
      }
    }
    this.#link.runOnce();
  }

  async #end(): Promise<void> {
    this.isOpen = false;
    this.#link.close();
    for (const exported of this.#attached.splice(0)) exported.end();
    while (this.#link.release()) await new Promise((resolve) => void realTimers.setImmediate(resolve));
  }
}

function warn({ code, message }: KubeloomError): void {
  process.emitWarning(`the caches of a thread have ended: ${message}`, { type: 'KubeloomWarning', code });
}
