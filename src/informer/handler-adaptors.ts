/** client-go's ready-made handlers: handlers made of single functions, and a filtering handler. */
import type { ResourceEventHandler } from '../replica/deliver/handler.ts';
import { DeletedFinalStateUnknown } from '../replica/store/deleted-final-state-unknown.ts';
import type { Borrowed } from '../replica/store/cached-object.ts';
import type { Identity } from '../replica/store/extracted-fields.ts';
import { anObject, callback, checkOptions } from '../base/option-checks.ts';
import type { OptionChecks } from '../base/option-checks.ts';
import { deletionHandlingObjectToName } from '../kube/keys.ts';
import { isTombstone } from '../kube/tombstone.ts';
import type { Tombstone } from '../kube/tombstone.ts';

/** Functions of a handler. */
export interface HandlerFuncs<T> {
  /** Called with each added object, also with the objects of the first list. */
  readonly addFunc?: (added: Borrowed<T>) => unknown;
  /** Called with the previous and the current state. */
  readonly updateFunc?: (previous: Borrowed<T>, current: Borrowed<T>) => unknown;
  /** Called with the last state; with a DeletedFinalStateUnknown if a relist found the object missing. */
  readonly deleteFunc?: (deleted: Borrowed<T> | DeletedFinalStateUnknown<T>) => unknown;
}

/** Functions of a handler; the first one also receives whether the object is of the first list. */
export interface HandlerDetailedFuncs<T> extends Omit<HandlerFuncs<T>, 'addFunc'> {
  /** Called with each added object; `isInInitialList` is true for the objects of the first list. */
  readonly addFunc?: (added: Borrowed<T>, isInInitialList: boolean) => unknown;
}

const FUNCTIONS: OptionChecks<HandlerFuncs<unknown>> = {
  addFunc: callback,
  updateFunc: callback,
  deleteFunc: callback,
};

/** Handler made of functions; each function is optional. */
export class ResourceEventHandlerFuncs<T = unknown> implements ResourceEventHandler<T> {
  /** The given functions. */
  readonly funcs: HandlerFuncs<T>;

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(funcs: HandlerFuncs<T>) {
    checkOptions('functions of a handler', funcs, FUNCTIONS);
    this.funcs = funcs;
  }

  /** Calls `addFunc`, if given, and returns the result. */
  onAdd(added: Borrowed<T>): unknown {
    return this.funcs.addFunc?.(added);
  }

  /** Calls `updateFunc`, if given, and returns the result. */
  onUpdate(previous: Borrowed<T>, current: Borrowed<T>): unknown {
    return this.funcs.updateFunc?.(previous, current);
  }

  /** Calls `deleteFunc`, if given, and returns the result. */
  onDelete(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): unknown {
    return this.funcs.deleteFunc?.(deleted);
  }
}

/** Handler made of functions, whose `addFunc` also receives `isInInitialList`. */
export class ResourceEventHandlerDetailedFuncs<T = unknown> implements ResourceEventHandler<T> {
  /** The given functions. */
  readonly funcs: HandlerDetailedFuncs<T>;

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(funcs: HandlerDetailedFuncs<T>) {
    checkOptions('functions of a handler', funcs, FUNCTIONS);
    this.funcs = funcs;
  }

  /** Calls `addFunc`, if given, and returns the result. */
  onAdd(added: Borrowed<T>, isInInitialList: boolean): unknown {
    return this.funcs.addFunc?.(added, isInInitialList);
  }

  /** Calls `updateFunc`, if given, and returns the result. */
  onUpdate(previous: Borrowed<T>, current: Borrowed<T>): unknown {
    return this.funcs.updateFunc?.(previous, current);
  }

  /** Calls `deleteFunc`, if given, and returns the result. */
  onDelete(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): unknown {
    return this.funcs.deleteFunc?.(deleted);
  }
}

/** Options of a handler that receives some of the objects. */
export interface FilteringOptions<T> {
  /** Called with a state of an object; for a deletion that a relist found, with the last known state. */
  readonly filterFunc: (object: Borrowed<T>) => boolean;
  /** Handler of the objects for which the filter returns true. */
  readonly handler: ResourceEventHandler<T>;
}

const FILTERING: OptionChecks<FilteringOptions<unknown>> = { filterFunc: callback, handler: anObject };

/** Handler that delivers only objects that match the filter. An object that no longer matches is delivered as deleted. */
export class FilteringResourceEventHandler<T = unknown> implements ResourceEventHandler<T> {
  /** The given handler. */
  readonly handler: ResourceEventHandler<T>;
  readonly #filter: (object: Borrowed<T>) => boolean;

  /** @throws ERR_KUBELOOM_OPTION */
  constructor(options: FilteringOptions<T>) {
    checkOptions('options of a filtering handler', options, FILTERING);
    const { filterFunc, handler } = options;
    FILTERING.filterFunc('filterFunc', filterFunc);
    FILTERING.handler('handler', handler);
    this.handler = handler;
    this.#filter = filterFunc;
  }

  /** Calls the `onAdd` of the handler if the object matches. */
  onAdd(added: Borrowed<T>, isInInitialList: boolean): unknown {
    return this.#filter(added) ? this.handler.onAdd?.(added, isInInitialList) : undefined;
  }

  /**
   * Calls `onUpdate` if both states match, `onAdd` if only the current state matches, and `onDelete` with the previous
   * state if only that state matches.
   */
  onUpdate(previous: Borrowed<T>, current: Borrowed<T>): unknown {
    const isIn = this.#filter(current);
    const wasIn = this.#filter(previous);
    if (isIn && wasIn) return this.handler.onUpdate?.(previous, current);
    if (isIn) return this.handler.onAdd?.(current, false);
    return wasIn ? this.handler.onDelete?.(previous) : undefined;
  }

  /** Calls the `onDelete` of the handler if the last state matches. */
  onDelete(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): unknown {
    return this.#filter(lastOf(deleted)) ? this.handler.onDelete?.(deleted) : undefined;
  }
}

/** Returns the last state. Also accepts tombstones of the client-go layers, which contain the object itself. */
function lastOf<T>(deleted: Borrowed<T> | DeletedFinalStateUnknown<T>): Borrowed<T> {
  const last: unknown = lastStateOf(deleted);
  // In a store of plain objects, the filter receives the plain object.
  return last as Borrowed<T>;
}

/**
 * Returns the class name of the handler. For a plain object, returns the names of the functions joined by `+`, without
 * functions named after their callback; `handler` if no name is left.
 */
export function nameForHandler(handler: ResourceEventHandler<never>): string {
  anObject('handler', handler);
  if (handler instanceof FilteringResourceEventHandler) return nameForHandler(handler.handler);
  if (handler instanceof ResourceEventHandlerFuncs || handler instanceof ResourceEventHandlerDetailedFuncs) {
    return nameForFunctions(handler.funcs, ['addFunc', 'updateFunc', 'deleteFunc']);
  }
  const className: unknown = handler.constructor?.name;
  if (typeof className === 'string' && className !== '' && className !== 'Object') return className;
  return nameForFunctions(handler, ['onAdd', 'onUpdate', 'onDelete']);
}

function nameForFunctions(of: object, properties: readonly string[]): string {
  const names = new Set<string>();
  for (const property of properties) {
    const callback: unknown = Reflect.get(of, property);
    const name = typeof callback === 'function' ? callback.name.replace(/^bound /, '') : '';
    // An inline function takes the name of the property, which does not identify the handler.
    if (name !== '' && name !== property) names.add(name);
  }
  return names.size > 0 ? [...names].join('+') : 'handler';
}

/** An object that was deleted, and whether its final state is known. */
export interface DeletedObject<Item> extends Identity {
  /** Last known state; undefined if there is none. */
  readonly optionalObject: Item | undefined;
  /** Tombstone that the handler received instead of an object, when a relist found the object missing. */
  readonly finalStateUnknown: Tombstone | undefined;
}

/**
 * Returns the identity and last state of a deleted object. Accepts entries of an informer, and plain objects and
 * tombstones of the client-go layers. An unknown key or namespace is ''.
 */
export function deletedObject<T>(
  deleted: Borrowed<T> | DeletedFinalStateUnknown<T>,
): DeletedObject<Borrowed<T>>;
/** Returns the object of a deletion, whether its final state is known or not. */
export function deletedObject<Item>(deleted: Item | Tombstone<Item>): DeletedObject<Item>;
/** Returns the object of a deletion, whether its final state is known or not. */
export function deletedObject(deleted: unknown): DeletedObject<unknown> {
  if (!isTombstone(deleted)) {
    return { ...identityOf(deleted, ''), optionalObject: deleted, finalStateUnknown: undefined };
  }
  return {
    ...identityOf(deleted, deleted.key),
    optionalObject: lastStateOf(deleted),
    finalStateUnknown: deleted,
  };
}

/** Returns the last state that a tombstone contains; any other value is the state. */
function lastStateOf(deleted: unknown): unknown {
  if (!isTombstone(deleted)) return deleted;
  return deleted instanceof DeletedFinalStateUnknown ? deleted.last : deleted.object;
}

function identityOf(deleted: unknown, key: string): Identity {
  try {
    const { namespace, name } = deletionHandlingObjectToName(deleted);
    return { key: namespace === '' ? name : `${namespace}/${name}`, namespace, name };
  } catch {
    return { key, namespace: '', name: key };
  }
}
