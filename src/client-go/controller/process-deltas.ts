/**
 * Writes popped deltas to the store and calls the handler. The content of the store, never the delta, decides
 * between an addition and an update. The store changes first, then the handler is called.
 */
import { deletionHandlingMetaNamespaceKeyFunc } from '../../kube/keys.ts';
import type { KeyFunction, StoreReader } from '../../kube/store.ts';
import { tombstone } from '../../kube/tombstone.ts';
import { KubeloomError } from '../../base/errors.ts';
import type { Delta, Deltas, MaybeTombstone } from '../queue/delta.ts';
import { ProcessErrors } from './event-handler.ts';
import type { ObjectEventHandler } from './event-handler.ts';
import type { Transaction, TransactionError } from '../cache/transaction.ts';

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
  delta: Exclude<Delta<Item>, { type: 'ReplacedAll' | 'SyncAll' | 'Bookmark' }>,
  isInInitialList: boolean,
): unknown {
  switch (delta.type) {
    case 'Deleted':
      clientState.delete(delta.object);
      return handler.onDelete?.(delta.object);
    case 'Added':
    case 'Updated':
    case 'Replaced':
    case 'Sync': {
      const { object } = delta;
      const old = clientState.get(object);
      if (old === undefined) {
        clientState.add(object);
        return handler.onAdd?.(object, isInInitialList);
      }
      clientState.update(object);
      return handler.onUpdate?.(old, object);
    }
    default:
      throw new KubeloomError(
        'ERR_KUBELOOM_DELTA_TYPE',
        `unknown delta type: ${JSON.stringify(Reflect.get(Object(delta), 'type'))}`,
      );
  }
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
