/** An informer of a ListWatch, from `start` to `stop`: turns the calls of the handler into client-node's events. */
import type {
  Borrowed,
  DeletedFinalStateUnknown,
  ErrorCode,
  HandlerRegistration,
  InformerOptions,
  KubeloomError,
  ListOptions,
  SharedIndexInformer,
  Wire,
} from '../index.ts';
import type { Callbacks } from './callbacks.ts';
import { stepConnect } from './connects.ts';
import type { Announced } from './connects.ts';
import { Delivered } from './delivered-objects.ts';
import type { Convert, DeliveredObjects, Name } from './delivered-objects.ts';

export interface RunParts<T> {
  readonly newInformer: (
    own: Pick<InformerOptions<Wire<T>>, 'onError' | 'tweakListOptions'>,
  ) => SharedIndexInformer<Wire<T>>;
  readonly objects: DeliveredObjects<T>;
  readonly callbacks: Callbacks<T>;
  readonly convert: Convert<T>;
}

export class InformerRun<T> {
  readonly #parts: RunParts<T>;
  readonly #informer: SharedIndexInformer<Wire<T>>;
  /** Resolves when the first list is delivered, or `stop` is called first. */
  readonly started: Promise<void>;
  #isStopping = false;
  #announced: Announced = 'none';
  /** The first list so far, to compare with the objects of the run before; undefined without any, and after the list. */
  #listed: Delivered<T>[] | undefined;

  constructor(parts: RunParts<T>) {
    this.#parts = parts;
    if (!parts.objects.isEmpty) this.#listed = [];
    this.#informer = parts.newInformer({
      onError: (error) => this.#failed(error),
      tweakListOptions: (options) => this.#requesting(options),
    });
    const registration = this.#informer.addEventHandler(
      {
        onAdd: (added, isInInitialList) => this.#added(added, isInInitialList),
        onUpdate: (previous, current) => this.#updated(previous, current),
        onDelete: (deleted) => this.#deleted(deleted),
      },
      { name: 'ListWatch' },
    );
    this.started = this.#start(registration);
  }

  get isStopped(): boolean {
    return this.#isStopping || this.#informer.isStopped();
  }

  /** resourceVersion of the cache; '' before the first list. */
  get resourceVersion(): string {
    return this.#informer.lastSyncResourceVersion();
  }

  /** Stops at once: the event in progress is the last. Resolves when the informer has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#informer.shutdown();
  }

  async #start(registration: HandlerRegistration): Promise<void> {
    // The informer reports the failure, and the wait rejects with it.
    this.#informer.run().catch(() => undefined);
    try {
      await this.#informer.waitForSync({ registration });
    } catch (error) {
      if (this.#isStopping) return;
      throw error;
    }
    this.#endList();
  }

  #failed(error: KubeloomError): void {
    if (this.#isStopping) return;
    if (isAdvice(error.code)) {
      process.emitWarning(error);
      return;
    }
    this.#announced = 'none';
    // Client-node also lists again after 410 without an error.
    if (error.code !== 'ERR_KUBELOOM_GONE') this.#parts.callbacks.error(error);
  }

  #requesting(options: ListOptions): ListOptions {
    const { announced, isConnect } = stepConnect(this.#announced, options);
    this.#announced = announced;
    if (isConnect && !this.#isStopping) this.#parts.callbacks.connect();
    return options;
  }

  #added(added: Borrowed<Wire<T>>, isInInitialList: boolean): void {
    if (this.#isStopping) return;
    const delivered = this.#new(added);
    if (isInInitialList && this.#listed) {
      this.#listed.push(delivered);
      return;
    }
    this.#endList();
    this.#deliver(added, delivered);
  }

  #updated(previous: Borrowed<Wire<T>>, current: Borrowed<Wire<T>>): void {
    // A relist found the object unchanged.
    if (this.#isStopping || previous === current) return;
    this.#endList();
    this.#deliver(current, this.#new(current));
  }

  #deleted(deleted: Borrowed<Wire<T>> | DeletedFinalStateUnknown<Wire<T>>): void {
    if (this.#isStopping) return;
    this.#endList();
    const { objects, callbacks } = this.#parts;
    const known = objects.get(deleted);
    if (!known) return;
    objects.delete(deleted);
    const last = deleted.finalStateUnknown ? known : this.#new(deleted);
    const isRead = callbacks.deliver('delete', last);
    if (last !== known) {
      if (!isRead) callbacks.deliver('delete', known);
      last.release();
    }
    known.release();
  }

  #deliver(name: Name, delivered: Delivered<T>): void {
    const { objects, callbacks } = this.#parts;
    const known = objects.get(name);
    objects.set(name, delivered);
    callbacks.deliver(known ? 'update' : 'add', delivered);
    known?.release();
  }

  #new(entry: Borrowed<Wire<T>>): Delivered<T> {
    return new Delivered(entry, this.#parts.convert);
  }

  /** Delivers the difference between the objects of the run before and the first list: first the deletions. */
  #endList(): void {
    const listed = this.#listed;
    if (!listed || this.#isStopping) return;
    this.#listed = undefined;
    const { objects, callbacks } = this.#parts;
    for (const [name, gone] of objects.others(listed)) {
      if (this.#isStopping) return;
      objects.delete(name);
      callbacks.deliver('delete', gone);
    }
    for (const delivered of listed) {
      if (this.#isStopping) return;
      const { identity } = delivered;
      const known = objects.get(identity);
      if (known?.identity.resourceVersion === identity.resourceVersion) known.moveTo(delivered);
      else this.#deliver(identity, delivered);
    }
  }
}

/**
 * Returns whether the code says that callbacks are slow: a program that ends at an error should survive these errors.
 */
function isAdvice(code: ErrorCode): boolean {
  switch (code) {
    case 'ERR_KUBELOOM_SLOW_HANDLER':
    case 'ERR_KUBELOOM_BACKLOG_COALESCED':
      return true;
    default:
      return false;
  }
}
