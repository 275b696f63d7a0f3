/**
 * Writes a reflector's objects into the store. An object that the store rejects is reported, and the watch continues,
 * as in client-go. A rejected list is a failure of that list.
 */
import type { ReflectorStore } from '../../kube/store.ts';
import { KubeloomError, wrapped, messageOf } from '../../base/errors.ts';
import type { WarningReporter } from './warning-reporter.ts';
import { metaNamespaceKeyFunc } from '../../kube/keys.ts';

/** A store may take the watch's resourceVersion, also for events that are not stored. */
export interface ResourceVersionUpdater {
  /** Receives the resourceVersion of each event of a watch after the initial objects, including bookmarks. */
  updateResourceVersion(resourceVersion: string): void;
}

export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * The pages of a list, or the objects of a streaming list: in the server's order, and as the server sent them. So the
 * store transforms every object once, in `replace`. (client-go's temporary store transforms as well, so objects are
 * transformed twice.)
 */
interface PendingList<T> {
  readonly listed: T[];
  readonly streamed: Map<string, T>;
}

export class StoreWriter<T> {
  readonly #store: ReflectorStore<T> & Partial<ResourceVersionUpdater>;
  readonly #reports: WarningReporter;
  #pending: PendingList<T> | undefined;

  constructor(store: ReflectorStore<T> & Partial<ResourceVersionUpdater>, reports: WarningReporter) {
    this.#store = store;
    this.#reports = reports;
  }

  /** Begins a list: the store receives none of it before `endReplace`. */
  beginReplace(): void {
    this.#pending = { listed: [], streamed: new Map() };
  }

  abortReplace(): void {
    this.#pending = undefined;
  }

  /** Appends items of a list; the store checks their keys. */
  append(items: readonly T[]): void {
    for (const item of items) this.#pending?.listed.push(item);
  }

  /** @throws ERR_KUBELOOM_STORE_WRITE when the store rejects the list */
  endReplace(resourceVersion: string): void {
    const { listed = [], streamed } = this.#pending ?? {};
    const items = listed.length > 0 ? listed : [...(streamed?.values() ?? [])];
    this.#pending = undefined;
    try {
      this.#store.replace(items, resourceVersion);
    } catch (cause) {
      const what = `the list could not be stored (${messageOf(cause)})`;
      const message = `${what}; the reflector lists again after a delay`;
      throw new KubeloomError('ERR_KUBELOOM_STORE_WRITE', message, { cause });
    }
  }

  /** @param isInitial the object belongs to a streaming list that is not complete */
  apply(type: ObjectEventType, object: T, isInitial: boolean): void {
    this.#guarded(`the store rejected an event of type ${type}`, () => {
      if (isInitial) this.#stream(type, object);
      else if (type === 'ADDED') this.#store.add(object);
      else if (type === 'MODIFIED') this.#store.update(object);
      else this.#store.delete(object);
    });
  }

  bookmark(resourceVersion: string): void {
    this.#guarded('the store rejected a bookmark', () => this.#store.bookmark?.(resourceVersion));
  }

  moved(resourceVersion: string): void {
    this.#guarded('the store rejected a resourceVersion', () =>
      this.#store.updateResourceVersion?.(resourceVersion),
    );
  }

  /** @throws what the store throws */
  resync(): void {
    this.#store.resync();
  }

  #guarded(what: string, write: () => void): void {
    try {
      write();
    } catch (cause) {
      this.#reports.report(wrapped('ERR_KUBELOOM_STORE_WRITE', what, cause), 'store');
    }
  }

  #stream(type: ObjectEventType, object: T): void {
    const key = metaNamespaceKeyFunc(object);
    if (type === 'DELETED') this.#pending?.streamed.delete(key);
    else this.#pending?.streamed.set(key, object);
  }
}
