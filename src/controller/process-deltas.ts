/**
 * From popped deltas to the store and the handler. The store decides what is an addition and what an update,
 * never the delta; it is changed first, then the handler is called.
 */
import { deletionHandlingMetaNamespaceKeyFunc } from '../cache/keys.ts';
import type { KeyFunction } from '../cache/store.ts';
import { tombstone } from '../cache/tombstone.ts';
import { KubeloomError } from '../errors.ts';
import type { Delta, Deltas } from '../queue/delta.ts';
import type { ClientState } from './client-state.ts';
import { ProcessErrors } from './event-handler.ts';
import type { ObjectEventHandler } from './event-handler.ts';

type ReplacedAll<Item> = Extract<Delta<Item>, { type: 'ReplacedAll' }>;

/**
 * A delta that cannot be stored, or whose handler throws, does not keep the others from being processed.
 *
 * @throws in the end, what went wrong
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
        `no delta type: ${JSON.stringify(Reflect.get(Object(delta), 'type'))}`,
      );
  }
}

/** The store first and as a whole; then deletions of all that is missing, then the objects in list order. */
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
    // A second object with this key is a change of the first.
    before.set(key, object);
    await errors.guard(() =>
      old === undefined ? handler.onAdd?.(object, isInInitialList) : handler.onUpdate?.(old, object),
    );
  }
}
