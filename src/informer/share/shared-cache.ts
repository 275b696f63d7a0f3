/**
 * Caches for other threads of the program: the main thread hands each of them a port, with which `openCache` of
 * `kubeloom/thread` reads the same objects in the same memory (docs/decisions/0025).
 */
import { MessageChannel } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { realTimers } from '../../base/clock.ts';
import { KubeloomError, toErrorMessage } from '../../base/errors.ts';
import { refuse } from '../../base/option-checks.ts';
import { PORT_VERSION, allocateLink } from '../../replica/share/messages.ts';
import type { FromReader, LinkMemory } from '../../replica/share/messages.ts';
import { ReaderLink } from '../../replica/share/reader-link.ts';
import type { DeclarativeIndex, ModuleIndex } from '../../replica/store/index-functions.ts';
import type { ResourceRef } from '../../kube/resource.ts';

/** The settings of an informer that its twins in other threads need. */
export interface LentInformer {
  /** Name under which a thread asks for it. */
  readonly key: string;
  readonly resource: ResourceRef;
  /** Name in messages. */
  readonly name: string;
  readonly fields: readonly string[];
  /** Indexes that are data. Functions stay on the main thread. */
  readonly indexers: Readonly<Record<string, DeclarativeIndex | ModuleIndex>>;
  readonly objectBytesMax: number;
}

/** An informer whose cache other threads may read. */
export interface Lendable {
  readonly name: string;
  hasStarted(): boolean;
  /** @internal */
  readonly lent: Omit<LentInformer, 'key'>;
  /** @internal Delivers to the link from now on; returns a function that ends that. */
  lend(link: ReaderLink, informer: number): () => void;
}

/** A port for one thread. Send it once: as `workerData`, or with `postMessage`, and `transferList` beside it. */
export interface CachePort {
  /** @internal */
  readonly kubeloomCache: typeof PORT_VERSION;
  /** @internal */
  readonly memory: LinkMemory;
  /** @internal */
  readonly informers: readonly LentInformer[];
  /** The list of the call that sends the port. */
  readonly transferList: [MessagePort];
}

/**
 * The caches of informers for other threads. Each thread has a replica of its own, which contains keys, indexes and
 * versions; the objects themselves stay in the main thread's memory and are read there.
 */
export class SharedCache {
  readonly #informers: ReadonlyMap<string, Lendable>;
  readonly #readers: Set<Reader> = new Set();
  #isClosed = false;

  /** @param informers the informers by the names under which threads ask for them */
  constructor(informers: Readonly<Record<string, Lendable>>) {
    const entries = Object.entries(informers);
    if (entries.length === 0)
      refuse('the informers of a shared cache', informers, 'at least one, by its name');
    for (const [key, informer] of entries) {
      if (typeof Reflect.get(Object(informer), 'lend') !== 'function') refuse(key, informer, 'an informer');
    }
    this.#informers = new Map(entries);
  }

  /** Number of threads that have opened a port and have not ended. */
  get threads(): number {
    let threads = 0;
    for (const { isOpen } of this.#readers) if (isOpen) threads++;
    return threads;
  }

  /** Number of states that threads have, summed over them: none of these is freed or packed meanwhile. */
  get lentStates(): number {
    let states = 0;
    for (const { lentStates } of this.#readers) states += lentStates;
    return states;
  }

  /**
   * Returns a port for one more thread.
   *
   * @throws ERR_KUBELOOM_NOT_STARTED before the informers run: their fields and indexes are not final
   */
  port(): CachePort {
    if (this.#isClosed)
      throw new KubeloomError('ERR_KUBELOOM_STOPPED', 'the shared cache is closed; make another one');
    for (const { name } of [...this.#informers.values()].filter((informer) => !informer.hasStarted())) {
      const message = `${name} cannot be shared yet: it was not started, call run() first`;
      throw new KubeloomError('ERR_KUBELOOM_NOT_STARTED', message);
    }
    const memory = allocateLink();
    const { port1, port2 } = new MessageChannel();
    this.#readers.add(
      new Reader(port1, memory, [...this.#informers.values()], (reader) => this.#readers.delete(reader)),
    );
    const informers = Array.from(this.#informers, ([key, { lent }]) => ({ key, ...lent }));
    return { kubeloomCache: PORT_VERSION, memory, informers, transferList: [port2] };
  }

  /**
   * Ends all ports. The handlers in the threads receive what is pending; then their caches cannot be read any more.
   * Resolves when no thread holds anything.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#readers, (reader) => reader.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** @internal One thread. Its port closes when the thread ends, however it ends: then nothing is left of it. */
export class Reader {
  readonly #port: MessagePort;
  readonly #link: ReaderLink;
  readonly #informers: readonly Lendable[];
  #unlend: (() => void)[] = [];
  isOpen = false;
  readonly #ended: Promise<void>;

  constructor(
    port: MessagePort,
    memory: LinkMemory,
    informers: readonly Lendable[],
    ended: (reader: Reader) => void,
  ) {
    this.#port = port;
    this.#informers = informers;
    this.#link = new ReaderLink(memory, (message) => port.postMessage(message));
    this.#ended = new Promise((resolve) => {
      port.once('close', () => {
        void this.#end().then(() => {
          ended(this);
          resolve();
        });
      });
    });
    port.on('message', (message: FromReader) => {
      if (message.type === 'open') this.#open();
      else this.#link.turn();
    });
    // The thread itself keeps the process alive.
    port.unref();
  }

  get lentStates(): number {
    return this.#link.lentRows;
  }

  close(): Promise<void> {
    this.#port.ref();
    // A thread that has opened the port may be reading: it closes the port when it reads no more.
    if (this.isOpen) this.#link.post({ type: 'close' });
    else this.#port.close();
    return this.#ended;
  }

  #open(): void {
    this.isOpen = true;
    this.#port.postMessage({ type: 'opened' });
    for (const [informer, lendable] of this.#informers.entries()) {
      try {
        this.#unlend.push(lendable.lend(this.#link, informer));
      } catch (error) {
        this.#link.post({ type: 'stopped', informer, error: toErrorMessage(error) });
      }
    }
    this.#link.turn();
  }

  async #end(): Promise<void> {
    this.isOpen = false;
    this.#link.close();
    for (const unlend of this.#unlend.splice(0)) unlend();
    while (this.#link.release()) await new Promise((resolve) => void realTimers.setImmediate(resolve));
  }
}
