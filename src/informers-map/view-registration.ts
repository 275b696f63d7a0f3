/**
 * One handler of a lease. Beneath it are as many registrations as there are informers; the handler is still called
 * once at a time, and is told nothing twice and nothing too little when it moves from one informer to another.
 */
import { KubeloomError } from '../errors.ts';
import { Done } from '../informer/done.ts';
import type { HandlerOptions } from '../informer/handlers.ts';
import { nameForHandler } from '../informer/handler-name.ts';
import type { Reports } from '../informer/reports.ts';
import type { SharedIndexInformer } from '../informer/shared-index-informer.ts';
import type { KubeObject } from '../kube/wire.ts';
import type { HandlerBacklog, HandlerRegistration, ResourceEventHandler } from '../processor/handler.ts';
import { DeletedFinalStateUnknown } from '../store/entry.ts';
import type { Borrowed, CachedObject } from '../store/entry.ts';
import { Serial } from './serial.ts';

export type Informer = SharedIndexInformer<KubeObject>;

/** How a view shows an entry. */
export type Show = (entry: Borrowed<KubeObject>) => Borrowed<unknown>;

export interface ViewRegistrationOptions {
  readonly handler: ResourceEventHandler<never>;
  readonly options: HandlerOptions;
  readonly show: Show;
  readonly reports: Reports;
  /** Of what it is registered with, for the name of its done checker. */
  readonly syncName: string;
}

/** What the handler has been told by an informer that it leaves, or will have been when `told` resolves. */
interface Departure {
  readonly known: Map<string, CachedObject<KubeObject>>;
  readonly hadSynced: boolean;
  readonly told: Promise<void>;
}

export class ViewRegistration implements HandlerRegistration {
  readonly name: string;
  readonly hasSyncedChecker: Done;
  readonly #handler: ResourceEventHandler<unknown>;
  readonly #options: ViewRegistrationOptions;
  /** By informer that it listens to. */
  readonly #joined: Map<Informer, HandlerRegistration> = new Map();
  /** Those that it has left, and is still told by. */
  readonly #leaving: Set<HandlerRegistration> = new Set();
  /** Whose initial lists are not delivered. */
  readonly #initial: Set<HandlerRegistration> = new Set();
  readonly #serial: Serial = new Serial();
  readonly #registeredAt: string;
  #isInside = false;
  #isClosed = false;

  constructor(options: ViewRegistrationOptions) {
    const { handler, syncName } = options;
    if (typeof handler !== 'object' || handler === null) {
      const message = `a handler is an object with onAdd, onUpdate and onDelete as far as wanted, got ${String(handler)}`;
      throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
    }
    this.#options = options;
    this.#handler = handler;
    this.name = options.options.name ?? nameForHandler(handler);
    this.#registeredAt = new Error('registered').stack?.split('\n').slice(2).join('\n') ?? '';
    this.hasSyncedChecker = new Done(
      `${syncName} + event handler ${this.name}`,
      () => `${this.backlog.notifications} notifications are pending`,
    );
  }

  hasSynced(): boolean {
    return this.hasSyncedChecker.isDone;
  }

  get backlog(): HandlerBacklog {
    const backlogs = [...this.#joined.values(), ...this.#leaving].map(({ backlog }) => backlog);
    return {
      notifications: backlogs.reduce((sum, { notifications }) => sum + notifications, 0),
      bytes: backlogs.reduce((sum, { bytes }) => sum + bytes, 0),
      ageMs: Math.max(0, ...backlogs.map(({ ageMs }) => ageMs)),
    };
  }

  get failure(): KubeloomError | undefined {
    return [...this.#joined.values(), ...this.#leaving].find(({ failure }) => failure)?.failure;
  }

  /** Is told of everything that these have, and of what changes; all of them, or none when one refuses. */
  join(...informers: readonly Informer[]): void {
    const before = new Set(this.#joined.keys());
    try {
      for (const informer of informers) if (!before.has(informer)) this.#join(informer, undefined);
    } catch (error) {
      this.forget(...informers.filter((informer) => !before.has(informer)));
      throw error;
    }
  }

  /** Is told nothing more by these. */
  forget(...informers: readonly Informer[]): void {
    for (const informer of informers) this.#drop(informer);
  }

  /**
   * From one informer to another of the same objects that is not behind it. First it is told what was pending,
   * then the difference; deletions in it are of unknown final state. Nothing may move in between: call it within
   * the turn in which the caches were compared.
   */
  move(from: Informer, to: Informer): void {
    if (this.#isClosed || !this.#joined.has(from)) return;
    const departure = this.#depart(from);
    const gone = new Map([...departure.known].filter(([key]) => !to.getStore().getByKey(key)));
    for (const key of gone.keys()) departure.known.delete(key);
    const told = departure.told.then(() => this.#tellDeletions(gone));
    this.#join(to, { ...departure, told });
  }

  /** Nothing of this one is followed any more: what was there is deleted, with unknown final state. */
  async leave(from: Informer): Promise<void> {
    if (this.#isClosed || !this.#joined.has(from)) return;
    const { known, told } = this.#depart(from);
    await told;
    await this.#tellDeletions(known);
  }

  /**
   * No more calls; resolves when the one in progress has returned, its promise included.
   *
   * @throws ERR_KUBELOOM_OWN_CALL when the handler itself waits for it, as far as that can be seen
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.forget(...this.#joined.keys());
    if (this.#isInside) {
      const message = `event handler ${this.name} is removed, but its own call cannot wait for its own end`;
      throw new KubeloomError('ERR_KUBELOOM_OWN_CALL', message);
    }
    await this.#serial.idle();
  }

  #join(informer: Informer, departure: Departure | undefined): void {
    const { resyncPeriodMs } = this.#options.options;
    const registration = informer.addEventHandler(this.#listener(departure), {
      name: this.name,
      ...(resyncPeriodMs === undefined ? {} : { resyncPeriodMs }),
    });
    this.#joined.set(informer, registration);
    this.#initial.add(registration);
    void registration.hasSyncedChecker.done.then(() => {
      departure?.known.clear();
      this.#synced(registration);
    });
  }

  #drop(informer: Informer): void {
    const registration = this.#joined.get(informer);
    if (!registration) return;
    this.#joined.delete(informer);
    this.#initial.delete(registration);
    informer.removeEventHandler(registration);
  }

  #depart(from: Informer): Departure {
    const known = new Map(
      from
        .getStore()
        .list()
        .map((entry) => [entry.key, entry]),
    );
    const registration = this.#joined.get(from);
    this.#joined.delete(from);
    if (!registration) return { known, hadSynced: true, told: Promise.resolve() };
    this.#leaving.add(registration);
    from.removeEventHandler(registration, { drain: true });
    return { known, hadSynced: from.hasSynced(), told: this.#drained(from, registration) };
  }

  async #drained(from: Informer, registration: HandlerRegistration): Promise<void> {
    // Whoever asks may be the handler itself: by the next turn its call is a promise.
    await Promise.resolve();
    await from.shutDownEventHandler(registration, { drain: true });
    this.#leaving.delete(registration);
    this.#synced(registration);
  }

  #synced(registration: HandlerRegistration): void {
    this.#initial.delete(registration);
    if (this.#initial.size === 0) this.hasSyncedChecker.finish();
  }

  /** What one informer calls. */
  #listener(departure: Departure | undefined): ResourceEventHandler<KubeObject> {
    const { show } = this.#options;
    const known = departure?.known;
    let told = departure?.told;
    void told?.then(() => (told = undefined));
    // Not within the line of calls: those that are waited for are in it themselves.
    const call = (key: string, tell: () => unknown): unknown =>
      told ? told.then(() => this.#call(key, tell)) : this.#call(key, tell);
    return {
      onAdd: (added, isInInitialList) => {
        const previous = isInInitialList ? known?.get(added.key) : undefined;
        if (previous) {
          known?.delete(added.key);
          const isSame = previous.resourceVersion === added.resourceVersion && previous.uid === added.uid;
          if (isSame) return undefined;
          return call(added.key, () => this.#handler.onUpdate?.(show(previous), show(added)));
        }
        const isInitial = isInInitialList && departure?.hadSynced !== true;
        return call(added.key, () => this.#handler.onAdd?.(show(added), isInitial));
      },
      onUpdate: (previous, current) =>
        call(current.key, () => this.#handler.onUpdate?.(show(previous), show(current))),
      onDelete: (deleted) =>
        call(deleted.key, () =>
          this.#handler.onDelete?.(
            deleted.finalStateUnknown ? new DeletedFinalStateUnknown(show(deleted.last)) : show(deleted),
          ),
        ),
    };
  }

  async #tellDeletions(gone: ReadonlyMap<string, CachedObject<KubeObject>>): Promise<void> {
    const { show } = this.#options;
    for (const [key, last] of gone) {
      await this.#call(key, () => this.#handler.onDelete?.(new DeletedFinalStateUnknown(show(last))));
    }
  }

  #call(key: string, tell: () => unknown): unknown {
    return this.#serial.run(() => {
      if (this.#isClosed) return undefined;
      this.#isInside = true;
      try {
        const result = tell();
        return isThenable(result) ? this.#settled(result, key) : undefined;
      } catch (error) {
        this.#options.reports.handler(error, key, this.#registeredAt);
        return undefined;
      } finally {
        this.#isInside = false;
      }
    });
  }

  async #settled(result: PromiseLike<unknown>, key: string): Promise<void> {
    try {
      await result;
    } catch (error) {
      this.#options.reports.handler(error, key, this.#registeredAt);
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
