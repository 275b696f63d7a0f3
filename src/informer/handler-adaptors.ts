/** client-go's ready-made handlers: handlers made of single functions, and a filtering handler. */
import type { ResourceEventHandler } from '../replica/deliver/handler.ts';
import { DeletedFinalStateUnknown } from '../replica/store/entry.ts';
import type { Borrowed } from '../replica/store/entry.ts';

export interface HandlerFuncs<T> {
  readonly addFunc?: (added: Borrowed<T>) => unknown;
  readonly updateFunc?: (previous: Borrowed<T>, current: Borrowed<T>) => unknown;
  readonly deleteFunc?: (deleted: Borrowed<T> | DeletedFinalStateUnknown<T>) => unknown;
}

export interface HandlerDetailedFuncs<T> extends Omit<HandlerFuncs<T>, 'addFunc'> {
  readonly addFunc?: (added: Borrowed<T>, isInInitialList: boolean) => unknown;
}

/** Handler made of functions; each function may be missing. */
export class ResourceEventHandlerFuncs<T = unknown> implements ResourceEventHandler<T> {
  readonly funcs: HandlerFuncs<T>;

  constructor(funcs: HandlerFuncs<T>) {
    this.funcs = funcs;
  }

  onAdd(added: Borrowed<T>): unknown {
    return this.funcs.addFunc?.(added);
  }

  onUpdate(previous: Borrowed<T>, current: Borrowed<T>): unknown {
    return this.funcs.updateFunc?.(previous, current);
  }

  onDelete(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): unknown {
    return this.funcs.deleteFunc?.(deleted);
  }
}

/** Handler made of functions, whose `addFunc` also receives whether the object is in the initial list. */
export class ResourceEventHandlerDetailedFuncs<T = unknown> implements ResourceEventHandler<T> {
  readonly funcs: HandlerDetailedFuncs<T>;

  constructor(funcs: HandlerDetailedFuncs<T>) {
    this.funcs = funcs;
  }

  onAdd(added: Borrowed<T>, isInInitialList: boolean): unknown {
    return this.funcs.addFunc?.(added, isInInitialList);
  }

  onUpdate(previous: Borrowed<T>, current: Borrowed<T>): unknown {
    return this.funcs.updateFunc?.(previous, current);
  }

  onDelete(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): unknown {
    return this.funcs.deleteFunc?.(deleted);
  }
}

export interface FilteringOptions<T> {
  /** Called with a state of an object; for a deletion that a relist found, with the last known state. */
  readonly filterFunc: (object: Borrowed<T>) => boolean;
  readonly handler: ResourceEventHandler<T>;
}

/** Handler that delivers only objects that match the filter. An object that no longer matches is delivered as deleted. */
export class FilteringResourceEventHandler<T = unknown> implements ResourceEventHandler<T> {
  readonly handler: ResourceEventHandler<T>;
  readonly #filter: (object: Borrowed<T>) => boolean;

  constructor({ filterFunc, handler }: FilteringOptions<T>) {
    this.handler = handler;
    this.#filter = filterFunc;
  }

  onAdd(added: Borrowed<T>, isInInitialList: boolean): unknown {
    return this.#filter(added) ? this.handler.onAdd?.(added, isInInitialList) : undefined;
  }

  onUpdate(previous: Borrowed<T>, current: Borrowed<T>): unknown {
    const isIn = this.#filter(current);
    const wasIn = this.#filter(previous);
    if (isIn && wasIn) return this.handler.onUpdate?.(previous, current);
    if (isIn) return this.handler.onAdd?.(current, false);
    return wasIn ? this.handler.onDelete?.(previous) : undefined;
  }

  onDelete(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): unknown {
    return this.#filter(lastOf(deleted)) ? this.handler.onDelete?.(deleted) : undefined;
  }
}

/** Returns the last state. Also accepts tombstones of the client-go layers, which contain the object itself. */
function lastOf<T>(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): Borrowed<T> {
  if (!deleted.finalStateUnknown) return deleted;
  // In a store of plain objects, the filter receives the plain object.
  return deleted instanceof DeletedFinalStateUnknown
    ? deleted.last
    : (deleted as { object: Borrowed<T> }).object;
}
