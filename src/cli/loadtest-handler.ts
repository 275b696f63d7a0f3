/** A handler that records its notifications and the time of each call. */
import type { Borrowed, DeletedFinalStateUnknown } from '../index.ts';
import { nowUs } from './loadtest-plan.ts';
import { RecordingHandler } from './recording-handler.ts';

export class TimedHandler extends RecordingHandler {
  /** The time of the handler's call, by the revision of the change. */
  readonly calledUs: Map<number, number> = new Map();

  override onAdd(added: Borrowed<unknown>, isInInitialList: boolean): unknown {
    if (!isInInitialList) this.#time(added.resourceVersion);
    return super.onAdd(added, isInInitialList);
  }

  override onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): unknown {
    if (current.resourceVersion !== previous.resourceVersion) this.#time(current.resourceVersion);
    return super.onUpdate(previous, current);
  }

  override onDelete(deleted: Borrowed<unknown> | DeletedFinalStateUnknown<unknown>): unknown {
    if (!deleted.finalStateUnknown) this.#time(deleted.resourceVersion);
    return super.onDelete(deleted);
  }

  #time(resourceVersion: string): void {
    this.calledUs.set(Number(resourceVersion), nowUs());
  }
}
