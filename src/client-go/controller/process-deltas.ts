/**
 * Writes popped deltas to the store and calls the handler, delta by delta or in a batch. The content of the store,
 * never the delta, decides between an addition and an update. The store changes first, then the handler is called. The
 * loop awaits a promise of the handler before the next call. When a handler throws, the other calls are still made.
 */
import { deletionHandlingMetaNamespaceKeyFunc } from '../../kube/keys.ts';
import type { KeyFunction, StoreReader } from '../../kube/store.ts';
import { tombstone } from '../../kube/tombstone.ts';
import { KubeloomError, messageOf } from '../../base/errors.ts';
import { anArray, anObject, callback, having, shown } from '../../base/option-checks.ts';
import type { OptionCheck, OptionChecks } from '../../base/option-checks.ts';
import { isObjectDelta } from '../queue/delta.ts';
import type { Delta, Deltas, MaybeTombstone, ObjectDelta } from '../queue/delta.ts';
import type { Transaction, TransactionError } from '../cache/thread-safe-store.ts';

/** Handler of plain objects, as they are in the store. */
export interface ObjectEventHandler<Item> {
  /** Called for an object that the store did not contain. A promise is awaited before the next call. */
  onAdd?(object: Item, isInInitialList: boolean): unknown;
  /** Called for an object that the store contained; a resync passes the stored object as both arguments. */
  onUpdate?(oldObject: Item, newObject: Item): unknown;
  /** Called for a deleted object; with a tombstone if a list did not contain the object. */
  onDelete?(object: MaybeTombstone<Item>): unknown;
}

const HANDLER_CHECKS: OptionChecks<ObjectEventHandler<unknown>> = {
  onAdd: callback,
  onUpdate: callback,
  onDelete: callback,
};

/** Checks for a handler: it may have other members. */
export const anEventHandler: OptionCheck = (name, value) => {
  anObject(name, value);
  for (const [method, check] of Object.entries<OptionCheck>(HANDLER_CHECKS)) {
    const member: unknown = Reflect.get(value as object, method);
    if (member !== undefined) check(`${name}.${method}`, member);
  }
};

/** The store that a process loop writes: any `newStore` or `newIndexer` whose key function takes tombstones. */
export interface ClientState<Item> extends StoreReader<Item> {
  /** Stores an object for which `get` returned undefined. */
  add(item: Item): void;
  /** Replaces an object that `get` returned. */
  update(item: Item): void;
  /** Deletes an object, stored or not; of a tombstone, the object with its key. */
  delete(item: MaybeTombstone<Item>): void;
  /** Replaces all objects by the objects of a list. */
  replace(items: readonly Item[], resourceVersion: string): void;
  /** Records that the server sent every change up to this version. */
  bookmark(resourceVersion: string): void;
  /** Does several changes at once, if the store supports it. */
  transaction?(transactions: readonly Transaction<MaybeTombstone<Item>>[]): TransactionError | undefined;
}

/**
 * Processes deltas. If a delta cannot be stored, or the handler throws, the others are still processed.
 *
 * @throws at the end, all errors
 */
export async function processDeltas<Item>(
  handler: ObjectEventHandler<Item>,
  clientState: ClientState<Item>,
  deltas: Deltas<Item>,
  isInInitialList: boolean,
  keyFunction: KeyFunction<Item> = deletionHandlingMetaNamespaceKeyFunc,
): Promise<void> {
  checkProcessing(handler, clientState, deltas);
  const processing = new Processing(handler, clientState, isInInitialList);
  for (const delta of deltas) {
    anObject('delta', delta);
    switch (delta.type) {
      case 'ReplacedAll':
        await processing.replaceAll(delta, keyFunction);
        break;
      case 'SyncAll':
        for (const object of clientState.list()) {
          await processing.guard(() => handler.onUpdate?.(object, object));
        }
        break;
      case 'Bookmark':
        await processing.guard(() => clientState.bookmark(delta.resourceVersion));
        break;
      default:
        await processing.guard(() => processing.one(delta));
    }
  }
  processing.rethrow();
}

/**
 * Processes deltas of different objects at once: a transaction, so that no reader sees only a part of them, then the
 * handler calls in order. A store without transactions processes delta by delta.
 *
 * @throws at the end, all errors; before any write for deltas that concern the whole collection
 */
export async function processDeltasInBatch<Item>(
  handler: ObjectEventHandler<Item>,
  clientState: ClientState<Item>,
  deltas: Deltas<Item>,
  isInInitialList: boolean,
): Promise<void> {
  checkProcessing(handler, clientState, deltas);
  const changes = deltas.filter(isObjectDelta);
  if (changes.length < deltas.length) {
    const types = deltas.filter((delta) => !isObjectDelta(delta)).map(({ type }) => type);
    const message = `deltas of the types ${types.join(', ')} cannot be processed in a batch`;
    throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
  }
  if (!clientState.transaction) return await processDeltas(handler, clientState, changes, isInInitialList);
  const processing = new Processing(handler, clientState, isInInitialList);
  const olds = changes.map((delta) => storedAs(clientState, delta));
  const failed = clientState.transaction(
    changes.map(({ type, object }, index) => {
      if (type === 'Deleted') return { type: 'delete', object };
      return { type: olds[index] === undefined ? 'add' : 'update', object };
    }),
  );
  if (failed) processing.keep(failed);
  const done = new Set(failed ? failed.successfulIndices : changes.keys());
  for (const [index, delta] of changes.entries()) {
    if (done.has(index)) await processing.guard(() => processing.notify(delta, olds[index]));
  }
  processing.rethrow();
}

const aClientState = having('a store with get() and list()', 'get', 'list');

function checkProcessing(handler: unknown, clientState: unknown, deltas: unknown): void {
  anEventHandler('handler', handler);
  aClientState('clientState', clientState);
  anArray('deltas', deltas);
}

/** Returns the stored object. The transaction reports an object without a key and leaves it out. */
function storedAs<Item>(clientState: ClientState<Item>, delta: ObjectDelta<Item>): Item | undefined {
  if (delta.type === 'Deleted') return undefined;
  try {
    return clientState.get(delta.object);
  } catch {
    return undefined;
  }
}

/** A call of the functions above, with the collected errors. */
class Processing<Item> {
  readonly #handler: ObjectEventHandler<Item>;
  readonly #state: ClientState<Item>;
  readonly #isInInitialList: boolean;
  readonly #errors: Error[] = [];

  constructor(handler: ObjectEventHandler<Item>, state: ClientState<Item>, isInInitialList: boolean) {
    this.#handler = handler;
    this.#state = state;
    this.#isInInitialList = isInInitialList;
  }

  one(delta: ObjectDelta<Item>): unknown {
    let old: Item | undefined;
    switch (delta.type) {
      case 'Deleted':
        this.#state.delete(delta.object);
        break;
      case 'Added':
      case 'Updated':
      case 'Replaced':
      case 'Sync':
        old = this.#state.get(delta.object);
        if (old === undefined) this.#state.add(delta.object);
        else this.#state.update(delta.object);
        break;
      default: {
        const message = `unknown delta type: ${shown(Reflect.get(Object(delta), 'type'))}`;
        throw new KubeloomError('ERR_KUBELOOM_OPTION', message);
      }
    }
    return this.notify(delta, old);
  }

  notify(delta: ObjectDelta<Item>, old: Item | undefined): unknown {
    if (delta.type === 'Deleted') return this.#handler.onDelete?.(delta.object);
    return this.#upserted(delta.object, old);
  }

  #upserted(object: Item, old: Item | undefined): unknown {
    if (old === undefined) return this.#handler.onAdd?.(object, this.#isInInitialList);
    return this.#handler.onUpdate?.(old, object);
  }

  /** Replaces the whole store; then handles deletions of all missing objects, then the objects in list order. */
  async replaceAll(
    { objects, resourceVersion }: Extract<Delta<Item>, { type: 'ReplacedAll' }>,
    keyFunction: KeyFunction<Item>,
  ): Promise<void> {
    const before = new Map<string, Item>();
    for (const key of this.#state.listKeys()) {
      const object = this.#state.getByKey(key);
      if (object !== undefined) before.set(key, object);
    }
    const keyed: [string, Item][] = [];
    for (const object of objects) {
      await this.guard(() => keyed.push([keyFunction(object), object]));
    }
    try {
      this.#state.replace(
        keyed.map(([, object]) => object),
        resourceVersion,
      );
    } catch (error) {
      this.keep(error);
      return;
    }
    const listed = new Set(keyed.map(([key]) => key));
    for (const [key, object] of before) {
      if (!listed.has(key)) await this.guard(() => this.#handler.onDelete?.(tombstone(key, object)));
    }
    for (const [key, object] of keyed) {
      const old = before.get(key);
      // A second object with this key is an update of the first.
      before.set(key, object);
      await this.guard(() => this.#upserted(object, old));
    }
  }

  /** Calls and awaits; keeps the error if it throws. */
  async guard(call: () => unknown): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.keep(error);
    }
  }

  keep(error: unknown): void {
    this.#errors.push(error instanceof Error ? error : new Error(messageOf(error)));
  }

  /** @throws the error, or an error that contains all errors if there were several */
  rethrow(): void {
    const [first, ...others] = this.#errors;
    if (!first) return;
    if (others.length === 0) throw first;
    const reasons = [...new Set(this.#errors.map(({ message }) => message))].join('; ');
    throw new KubeloomError('ERR_KUBELOOM_PROCESS', `${this.#errors.length} errors: ${reasons}`, {
      cause: new AggregateError(this.#errors, reasons),
    });
  }
}
