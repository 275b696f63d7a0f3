/**
 * A handler of an informer handle. It registers with each informer, but the calls run in sequence. When it moves from
 * an informer to another, every change is delivered exactly once.
 */
import { isThenable } from '../../base/thenable.ts';
import { KubeloomError } from '../../base/errors.ts';
import { SettableDoneChecker } from '../wait-for.ts';
import { registrationStack, checkHandler } from '../handlers.ts';
import type { HandlerOptions } from '../handlers.ts';
import { nameForHandler } from '../handler-adaptors.ts';
import type { ErrorReporter } from '../error-reporter.ts';
import type { SharedIndexInformer } from '../shared-index-informer.ts';
import type { KubeObject } from '../../kube/wire.ts';
import type {
  HandlerBacklog,
  HandlerRegistration,
  ResourceEventHandler,
} from '../../replica/deliver/handler.ts';
import { DeletedFinalStateUnknown } from '../../replica/store/deleted-final-state-unknown.ts';
import type { Borrowed, CachedObject } from '../../replica/store/cached-object.ts';

export type Informer = SharedIndexInformer<KubeObject>;

export type Show = (entry: Borrowed<KubeObject>) => Borrowed<unknown>;

export interface ViewRegistrationOptions {
  readonly handler: ResourceEventHandler<never>;
  readonly options: HandlerOptions;
  readonly show: Show;
  readonly reports: ErrorReporter;
  /** Prefix of the done checker's name. */
  readonly syncName: string;
}

/** Calls that run in sequence, each after the previous call's promise settled; at once if none is pending. */
class CallQueue {
  #last: Promise<unknown> | undefined;

  /** Returns the result of `call`, or a promise of it. `call` must not throw or reject. */
  run(call: () => unknown): unknown {
    if (this.#last) return this.#set(this.#last.then(call));
    const result = call();
    return result instanceof Promise ? this.#set(result) : result;
  }

  async idle(): Promise<void> {
    while (this.#last) await this.#last;
  }

  #set(promise: Promise<unknown>): Promise<unknown> {
    const last = promise.then(() => {
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
    return last;
  }
}

/** State of a handler that is leaving an informer. */
interface Departure {
  /** Objects that the handler has received after `drained` resolves. */
  readonly known: Map<string, CachedObject<KubeObject>>;
  readonly hadSynced: boolean;
  readonly drained: Promise<void>;
}

export class ViewRegistration implements HandlerRegistration {
  readonly name: string;
  readonly hasSyncedChecker: SettableDoneChecker;
  readonly #handler: ResourceEventHandler<unknown>;
  readonly #options: ViewRegistrationOptions;
  readonly #joined: Map<Informer, HandlerRegistration> = new Map();
  /** Removed registrations that still deliver pending notifications. */
  readonly #leaving: Set<HandlerRegistration> = new Set();
  /** Registrations whose initial lists are not delivered yet. */
  readonly #initial: Set<HandlerRegistration> = new Set();
  readonly #calls: CallQueue = new CallQueue();
  readonly #registeredAt: string;
  #isInside = false;
  #isClosed = false;

  constructor(options: ViewRegistrationOptions) {
    const { handler, syncName } = options;
    checkHandler(handler, options.options);
    this.#options = options;
    this.#handler = handler;
    this.name = options.options.name ?? nameForHandler(handler);
    this.#registeredAt = registrationStack(2);
    this.hasSyncedChecker = new SettableDoneChecker(
      `${syncName} + event handler ${this.name}`,
      () => `${this.backlog.notifications} notifications are pending`,
    );
  }

  hasSynced(): boolean {
    return this.hasSyncedChecker.isDone;
  }

  get backlog(): HandlerBacklog {
    const backlogs = this.#registrations.map(({ backlog }) => backlog);
    return {
      notifications: backlogs.reduce((sum, { notifications }) => sum + notifications, 0),
      bytes: backlogs.reduce((sum, { bytes }) => sum + bytes, 0),
      ageMs: Math.max(0, ...backlogs.map(({ ageMs }) => ageMs)),
    };
  }

  get #registrations(): readonly HandlerRegistration[] {
    return [...this.#joined.values(), ...this.#leaving];
  }

  /** Registers with all of these informers, or with none if an informer rejects the handler. */
  join(...informers: readonly Informer[]): void {
    const before = new Set(this.#joined.keys());
    try {
      for (const informer of informers) if (!before.has(informer)) this.#join(informer, undefined);
    } catch (error) {
      this.forget(...informers.filter((informer) => !before.has(informer)));
      throw error;
    }
  }

  forget(...informers: readonly Informer[]): void {
    for (const informer of informers) {
      const registration = this.#joined.get(informer);
      if (!registration) continue;
      this.#joined.delete(informer);
      this.#initial.delete(registration);
      informer.removeEventHandler(registration);
    }
  }

  /**
   * Moves from an informer to another that holds the same objects and is not behind. The handler first receives the
   * pending notifications, then the difference, in which the final state of deletions is unknown. Call it in the turn
   * of the event loop that compared the caches, so that neither cache changes in between.
   */
  move(from: Informer, to: Informer): void {
    if (this.#isClosed || !this.#joined.has(from)) return;
    const departure = this.#depart(from);
    const gone = new Map([...departure.known].filter(([key]) => !to.getStore().getByKey(key)));
    for (const key of gone.keys()) departure.known.delete(key);
    const drained = departure.drained.then(() => this.#deliverDeletions(gone));
    this.#join(to, { ...departure, drained });
  }

  /** Leaves an informer and delivers all objects as deleted, with unknown final state. */
  async leave(from: Informer): Promise<void> {
    if (this.#isClosed || !this.#joined.has(from)) return;
    const { known, drained } = this.#depart(from);
    await drained;
    await this.#deliverDeletions(known);
  }

  /**
   * Removes the handler; resolves when the call in progress has returned and the promise has settled.
   *
   * @throws ERR_KUBELOOM_OWN_CALL if the handler itself calls it before the first await
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.forget(...this.#joined.keys());
    if (this.#isInside) {
      const message = `event handler ${this.name} is removed, but a call of the handler cannot wait for itself: do not await it there`;
      throw new KubeloomError('ERR_KUBELOOM_OWN_CALL', message);
    }
    await this.#calls.idle();
  }

  #join(informer: Informer, departure: Departure | undefined): void {
    const options = { ...this.#options.options, name: this.name };
    const registration = informer.addEventHandler(this.#listener(departure), options);
    this.#joined.set(informer, registration);
    this.#initial.add(registration);
    void registration.hasSyncedChecker.done.then(() => {
      departure?.known.clear();
      this.#synced(registration);
    });
  }

  #depart(from: Informer): Departure {
    const entries = from.getStore().list();
    const known = new Map(entries.map((entry) => [entry.key, entry]));
    const registration = this.#joined.get(from);
    this.#joined.delete(from);
    if (!registration) return { known, hadSynced: true, drained: Promise.resolve() };
    this.#leaving.add(registration);
    from.removeEventHandler(registration, { drain: true });
    return { known, hadSynced: from.hasSynced(), drained: this.#drained(from, registration) };
  }

  async #drained(from: Informer, registration: HandlerRegistration): Promise<void> {
    // The handler itself may be the caller: after this await, the call is a promise.
    await Promise.resolve();
    await from.shutDownEventHandler(registration, { drain: true });
    this.#leaving.delete(registration);
    this.#synced(registration);
  }

  #synced(registration: HandlerRegistration): void {
    this.#initial.delete(registration);
    if (this.#initial.size === 0) this.hasSyncedChecker.finish();
  }

  #listener(departure: Departure | undefined): ResourceEventHandler<KubeObject> {
    const { show } = this.#options;
    const known = departure?.known;
    let drained = departure?.drained;
    void drained?.then(() => (drained = undefined));
    // Waits outside the queue of calls, because the awaited calls are in that queue.
    const call = (key: string, deliver: () => unknown): unknown =>
      drained ? drained.then(() => this.#call(key, deliver)) : this.#call(key, deliver);
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

  async #deliverDeletions(gone: ReadonlyMap<string, CachedObject<KubeObject>>): Promise<void> {
    const { show } = this.#options;
    for (const [key, last] of gone) {
      await this.#call(key, () => this.#handler.onDelete?.(new DeletedFinalStateUnknown(show(last))));
    }
  }

  #call(key: string, deliver: () => unknown): unknown {
    return this.#calls.run(() => {
      if (this.#isClosed) return undefined;
      this.#isInside = true;
      try {
        const result = deliver();
        return isThenable(result) ? this.#settled(result, key) : undefined;
      } catch (error) {
        this.#report(error, key);
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
      this.#report(error, key);
    }
  }

  #report(thrown: unknown, key: string): void {
    this.#options.reports.handler(thrown, key, this.name, this.#registeredAt);
  }
}
