/**
 * What a user registers: three callbacks, each of which may be async. A handler is called once at a time;
 * its next notification waits for the promise of the one before.
 */
import type { DoneChecker } from '../done-checker.ts';
import type { KubeloomError } from '../errors.ts';
import type { Borrowed, DeletedFinalStateUnknown } from '../store/entry.ts';

export interface ResourceEventHandler<T> {
  /** `isInInitialList`: from the first list, or from the state at the time the handler joined. */
  onAdd?(added: Borrowed<T>, isInInitialList: boolean): unknown;
  /** Also called with the same object twice: for a resync, and for a relisted object that did not change. */
  onUpdate?(previous: Borrowed<T>, current: Borrowed<T>): unknown;
  onDelete?(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): unknown;
}

/** The handle of a registration: to remove it, to wait for it, to look at its backlog. */
export interface HandlerRegistration {
  /** How messages name the handler: the name given, its class, or its functions. */
  readonly name: string;
  /** The informer has synced and all calls of the initial list have returned. */
  hasSynced(): boolean;
  /** The same, to wait for: `SharedIndexInformer pods + event handler NAME`. */
  readonly hasSyncedChecker: DoneChecker;
  readonly backlog: HandlerBacklog;
  /**
   * Why it was removed, when nobody asked for it: ERR_KUBELOOM_HANDLER_OVERFLOW, it was so far behind that the process
   * would have run out of memory.
   */
  readonly failure: KubeloomError | undefined;
}

export interface HandlerBacklog {
  /** Notifications that the handler has not been called for. */
  readonly notifications: number;
  /** Bytes of objects that only this handler's pending notifications may still need, at most. */
  readonly bytes: number;
  /** How long the oldest of them has been waiting; up to 100 ms too much. 0 without any. */
  readonly ageMs: number;
}
