/**
 * What a reflector reads goes here: an object that the destination refuses is reported, and the watch goes
 * on, as in client-go; a list that it refuses is a failure of that list.
 */
import type { ReflectorStore } from '../cache/store.ts';
import { KubeloomError } from '../errors.ts';
import { wrapped } from './error-reports.ts';
import type { ErrorReports } from './error-reports.ts';
import { TemporaryStore } from './temporary-store.ts';

/** A destination may want to know how far the watch has come, also where nothing is stored. */
export interface ResourceVersionUpdater {
  updateResourceVersion(resourceVersion: string): void;
}

export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export class Destination<T> {
  readonly #store: ReflectorStore<T> & Partial<ResourceVersionUpdater>;
  readonly #reports: ErrorReports;
  #pending: TemporaryStore<T> | undefined;

  constructor(store: ReflectorStore<T> & Partial<ResourceVersionUpdater>, reports: ErrorReports) {
    this.#store = store;
    this.#reports = reports;
  }

  /** A list begins: nothing of it is seen before `endReplace`. */
  beginReplace(): void {
    this.#pending = new TemporaryStore();
  }

  abortReplace(): void {
    this.#pending = undefined;
  }

  append(items: readonly T[]): void {
    this.#pending?.append(items);
  }

  /** What is in the list so far. */
  pending(): T[] {
    return this.#pending?.items() ?? [];
  }

  /** @throws ERR_KUBELOOM_STORE_REPLACE when the destination refuses the list */
  endReplace(resourceVersion: string): void {
    const items = this.pending();
    this.#pending = undefined;
    try {
      this.#store.replace(items, resourceVersion);
    } catch (cause) {
      const what = `the list could not be stored (${cause instanceof Error ? cause.message : String(cause)})`;
      throw new KubeloomError('ERR_KUBELOOM_STORE_REPLACE', `${what}; listing again after a while`, {
        cause,
      });
    }
  }

  /** @param isInitial it belongs to a streaming list that is not complete */
  apply(type: ObjectEventType, object: T, isInitial: boolean): void {
    this.#guarded(`the destination refused an event of type ${type}`, () => {
      if (isInitial) this.#pending?.apply(type, object);
      else if (type === 'ADDED') this.#store.add(object);
      else if (type === 'MODIFIED') this.#store.update(object);
      else this.#store.delete(object);
    });
  }

  bookmark(resourceVersion: string): void {
    this.#guarded('the destination refused a bookmark', () => this.#store.bookmark?.(resourceVersion));
  }

  moved(resourceVersion: string): void {
    this.#guarded('the destination refused a resourceVersion', () =>
      this.#store.updateResourceVersion?.(resourceVersion),
    );
  }

  /** @throws whatever the destination throws */
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
}
