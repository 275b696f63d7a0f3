/** client-go's ready-made handlers: from single functions, and one that lets a filter decide. */
import type { ResourceEventHandler } from '../processor/handler.ts';
import { DeletedFinalStateUnknown } from '../store/entry.ts';
import type { Borrowed } from '../store/entry.ts';

export interface HandlerFuncs<T> {
  readonly addFunc?: (added: Borrowed<T>) => unknown;
  readonly updateFunc?: (previous: Borrowed<T>, current: Borrowed<T>) => unknown;
  readonly deleteFunc?: (deleted: Borrowed<T> | DeletedFinalStateUnknown<T>) => unknown;
}

export interface HandlerDetailedFuncs<T> extends Omit<HandlerFuncs<T>, 'addFunc'> {
  readonly addFunc?: (added: Borrowed<T>, isInInitialList: boolean) => unknown;
}

/** Any of the functions may be missing. */
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

/** The same; `addFunc` is told whether the object is of the initial list. */
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
  /** Asked with an object's state; for a deletion that only a relist found, with the last that was seen. */
  readonly filterFunc: (object: Borrowed<T>) => boolean;
  readonly handler: ResourceEventHandler<T>;
}

/** Passes on what the filter lets through; to the handler an object that passes no longer is deleted. */
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

/** Of the lower layers' tombstones too, which have the object itself. */
function lastOf<T>(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): Borrowed<T> {
  if (!deleted.finalStateUnknown) return deleted;
  // In a store of plain objects, what is filtered is the plain object.
  return deleted instanceof DeletedFinalStateUnknown
    ? deleted.last
    : (deleted as { object: Borrowed<T> }).object;
}
