/**
 * Writes popped deltas to the store and calls the handler, one by one or in a batch. The content of the store, never the
 * delta, decides between an addition and an update. The store changes first, then the handler is called. The loop awaits
 * a promise of the handler before the next call. When a handler throws, the other calls are still made.
 */
import { deletionHandlingMetaNamespaceKeyFunc } from '../../kube/keys.ts';
import type { KeyFunction, StoreReader } from '../../kube/store.ts';
import { tombstone } from '../../kube/tombstone.ts';
import { KubeloomError } from '../../base/errors.ts';
import { isObjectDelta } from '../queue/delta.ts';
import type { Delta, Deltas, MaybeTombstone, ObjectDelta } from '../queue/delta.ts';
import type { Transaction, TransactionError } from '../cache/transaction.ts';

/** Handler of plain objects, as they are in the store. */
export interface ObjectEventHandler<Item> {
  onAdd?(object: Item, isInInitialList: boolean): unknown;
  onUpdate?(oldObject: Item, newObject: Item): unknown;
  onDelete?(object: MaybeTombstone<Item>): unknown;
}

/** The store that a process loop writes: any `newStore` or `newIndexer` whose key function takes tombstones. */
export interface ClientState<Item> extends StoreReader<Item> {
  add(item: Item): void;
  update(item: Item): void;
  delete(item: MaybeTombstone<Item>): void;
  replace(items: readonly Item[], resourceVersion: string): void;
  bookmark(resourceVersion: string): void;
  /** Does several changes at once, if the store supports it. */
  transaction?(transactions: readonly Transaction<MaybeTombstone<Item>>[]): TransactionError | undefined;
}

type ReplacedAll<Item> = Extract<Delta<Item>, { type: 'ReplacedAll' }>;

/**
 * Processes deltas. When one cannot be stored, or its handler throws, the others are still processed.
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
  const errors = new ProcessErrors();
  for (const delta of deltas) {
    switch (delta.type) {
      case 'ReplacedAll':
        await processReplacedAll(handler, clientState, delta, isInInitialList, keyFunction, errors);
        break;
      case 'SyncAll':
        for (const object of clientState.list()) await errors.guard(() => handler.onUpdate?.(object, object));
        break;
      case 'Bookmark':
        await errors.guard(() => clientState.bookmark(delta.resourceVersion));
        break;
      default:
        await errors.guard(() => processDelta(handler, clientState, delta, isInInitialList));
    }
  }
  errors.rethrow();
}

function processDelta<Item>(
  handler: ObjectEventHandler<Item>,
  clientState: ClientState<Item>,
  delta: ObjectDelta<Item>,
  isInInitialList: boolean,
): unknown {
  let old: Item | undefined;
  switch (delta.type) {
    case 'Deleted':
      clientState.delete(delta.object);
      break;
    case 'Added':
    case 'Updated':
    case 'Replaced':
    case 'Sync':
      old = clientState.get(delta.object);
      if (old === undefined) clientState.add(delta.object);
      else clientState.update(delta.object);
      break;
    default:
      throw new KubeloomError(
        'ERR_KUBELOOM_DELTA_TYPE',
        `unknown delta type: ${JSON.stringify(Reflect.get(Object(delta), 'type'))}`,
      );
  }
  return notify(handler, delta, old, isInInitialList);
}

function notify<Item>(
  handler: ObjectEventHandler<Item>,
  delta: ObjectDelta<Item>,
  old: Item | undefined,
  isInInitialList: boolean,
): unknown {
  if (delta.type === 'Deleted') return handler.onDelete?.(delta.object);
  if (old === undefined) return handler.onAdd?.(delta.object, isInInitialList);
  return handler.onUpdate?.(old, delta.object);
}

/** Replaces the whole store; then handles deletions of all missing objects, then the objects in list order. */
async function processReplacedAll<Item>(
  handler: ObjectEventHandler<Item>,
  clientState: ClientState<Item>,
  { objects, resourceVersion }: ReplacedAll<Item>,
  isInInitialList: boolean,
  keyFunction: KeyFunction<Item>,
  errors: ProcessErrors,
): Promise<void> {
  const before = new Map<string, Item>();
  for (const key of clientState.listKeys()) {
    const object = clientState.getByKey(key);
    if (object !== undefined) before.set(key, object);
  }
  const keyed: [string, Item][] = [];
  for (const object of objects) {
    await errors.guard(() => keyed.push([keyFunction(object), object]));
  }
  const good = keyed.map(([, object]) => object);
  try {
    clientState.replace(good, resourceVersion);
  } catch (error) {
    errors.keep(error);
    return;
  }
  const listed = new Set(keyed.map(([key]) => key));
  for (const [key, object] of before) {
    if (!listed.has(key)) await errors.guard(() => handler.onDelete?.(tombstone(key, object)));
  }
  for (const [key, object] of keyed) {
    const old = before.get(key);
    // A second object with this key is an update of the first.
    before.set(key, object);
    await errors.guard(() =>
      old === undefined ? handler.onAdd?.(object, isInInitialList) : handler.onUpdate?.(old, object),
    );
  }
}

/**
 * Processes deltas of different objects at once: one transaction, so that no reader sees only some of them, then the
 * handler calls in order. Processes them one by one with a store that has no transactions.
 *
 * @throws at the end, all errors; before any write for deltas that concern the whole collection
 */
export async function processDeltasInBatch<Item>(
  handler: ObjectEventHandler<Item>,
  clientState: ClientState<Item>,
  deltas: Deltas<Item>,
  isInInitialList: boolean,
): Promise<void> {
  const changes = deltas.filter(isObjectDelta);
  if (changes.length < deltas.length) {
    const types = deltas.filter((delta) => !isObjectDelta(delta)).map(({ type }) => type);
    const message = `deltas of the types ${types.join(', ')} cannot be processed in a batch`;
    throw new KubeloomError('ERR_KUBELOOM_DELTA_TYPE', message);
  }
  if (!clientState.transaction) return await processDeltas(handler, clientState, changes, isInInitialList);
  const errors = new ProcessErrors();
  const olds = changes.map((delta) => storedAs(clientState, delta));
  const failed = clientState.transaction(
    changes.map(({ type, object }, index) => {
      if (type === 'Deleted') return { type: 'delete', object };
      return { type: olds[index] === undefined ? 'add' : 'update', object };
    }),
  );
  if (failed) errors.keep(failed);
  const done = new Set(failed ? failed.successfulIndices : changes.keys());
  for (const [index, delta] of changes.entries()) {
    if (done.has(index)) await errors.guard(() => notify(handler, delta, olds[index], isInInitialList));
  }
  errors.rethrow();
}

/**
 * Returns the stored object. An object without a key is left to the transaction, which reports it and leaves it out.
 */
function storedAs<Item>(clientState: ClientState<Item>, delta: ObjectDelta<Item>): Item | undefined {
  if (delta.type === 'Deleted') return undefined;
  try {
    return clientState.get(delta.object);
  } catch {
    return undefined;
  }
}

/** All errors of one processing. */
class ProcessErrors {
  readonly #errors: Error[] = [];

  /** Calls and awaits; keeps the error if it throws. */
  async guard(call: () => unknown): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.keep(error);
    }
  }

  keep(error: unknown): void {
    this.#errors.push(error instanceof Error ? error : new Error(String(error)));
  }

  /** @throws the error if there was one, or an error that contains all of them */
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
