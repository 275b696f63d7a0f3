/**
 * Processes deltas of different objects at once: one transaction, so that no reader sees only some of them, then
 * the handler calls in order.
 */
import type { Transaction } from '../cache/transaction.ts';
import { KubeloomError } from '../../base/errors.ts';
import { isObjectDelta } from '../queue/delta.ts';
import type { Deltas, MaybeTombstone, ObjectDelta } from '../queue/delta.ts';
import { processDeltas } from './process-deltas.ts';
import type { ClientState } from './process-deltas.ts';
import { ProcessErrors } from './event-handler.ts';
import type { ObjectEventHandler } from './event-handler.ts';

/** A write, and the handler call that follows it. */
interface Write<Item> {
  readonly transaction: Transaction<MaybeTombstone<Item>>;
  notify(): unknown;
}

/**
 * Processes a batch; one by one with a store that has no transactions.
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
  const writes = changes.map((delta) => writeOf(handler, clientState, delta, isInInitialList));
  const failed = clientState.transaction(writes.map(({ transaction }) => transaction));
  if (failed) errors.keep(failed);
  const done = new Set(failed ? failed.successfulIndices : writes.keys());
  for (const [index, write] of writes.entries()) {
    if (done.has(index)) await errors.guard(() => write.notify());
  }
  errors.rethrow();
}

function writeOf<Item>(
  handler: ObjectEventHandler<Item>,
  clientState: ClientState<Item>,
  delta: ObjectDelta<Item>,
  isInInitialList: boolean,
): Write<Item> {
  if (delta.type === 'Deleted') {
    const { object } = delta;
    return { transaction: { type: 'delete', object }, notify: () => handler.onDelete?.(object) };
  }
  const { object } = delta;
  const old = storedAs(clientState, object);
  return old === undefined
    ? { transaction: { type: 'add', object }, notify: () => handler.onAdd?.(object, isInInitialList) }
    : { transaction: { type: 'update', object }, notify: () => handler.onUpdate?.(old, object) };
}

/**
 * Returns the stored object. An object without a key is left to the transaction, which reports it and leaves it out.
 */
function storedAs<Item>(clientState: ClientState<Item>, object: Item): Item | undefined {
  try {
    return clientState.get(object);
  } catch {
    return undefined;
  }
}
