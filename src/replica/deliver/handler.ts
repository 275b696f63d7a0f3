/**
 * The handler that a user registers: three callbacks, each of which may be async. A handler receives a single
 * notification at a time; the next call waits for the promise of the previous call.
 */
import type { DoneChecker } from '../../base/done-checker.ts';
import type { DeletedFinalStateUnknown } from '../store/deleted-final-state-unknown.ts';
import type { Borrowed } from '../store/cached-object.ts';

/** Functions that receive the changes of a collection. */
export interface ResourceEventHandler<T> {
  /** `isInInitialList`: the object comes from the first list, or from the cache as it was when the handler joined. */
  onAdd?(added: Borrowed<T>, isInInitialList: boolean): unknown;
  /** For a resync, and for a relisted object that did not change, both arguments are the same object. */
  onUpdate?(previous: Borrowed<T>, current: Borrowed<T>): unknown;
  /**
   * The last state as the server sent it, with the version of the deletion; after a relist that found the object
   * missing, a `DeletedFinalStateUnknown`.
   */
  onDelete?(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): unknown;
}

/** The handle of a registration: removes the handler, waits for the sync, shows the backlog. */
export interface HandlerRegistration {
  /** The handler's name in messages: the given name, the name of the class, or the names of the functions. */
  readonly name: string;
  /** True when the informer is synced and all calls of the initial list have returned. */
  hasSynced(): boolean;
  /** The same condition as a checker to wait for, named `SharedIndexInformer pods + event handler NAME`. */
  readonly hasSyncedChecker: DoneChecker;
  /** Backlog at the moment of the read. */
  readonly backlog: HandlerBacklog;
}

/** Notifications that a handler has not received yet. */
export interface HandlerBacklog {
  /** Notifications for which the handler was not called yet. */
  readonly notifications: number;
  /** Upper bound of the bytes of objects that only this handler's pending notifications need. */
  readonly bytes: number;
  /** Waiting time of the oldest pending notification, up to 100 ms too long; 0 if the backlog is empty. */
  readonly ageMs: number;
}
