/** What one informer of a load test is told, with how long each write took to get there. */
import { createHistogram } from 'node:perf_hooks';
import type { RecordableHistogram } from 'node:perf_hooks';
import type { Borrowed } from '../store/entry.ts';
import { DUE_KEY, nowUs } from './loadtest-plan.ts';
import { RecordingHandler } from './recording-handler.ts';

/** Declared at the informer, so that no object is parsed for it. */
export const DUE_FIELD: string = `data.${DUE_KEY}`;

export class TimedHandler extends RecordingHandler {
  /** In µs, from when a write was due: one that the server kept waiting counts its wait (open loop). */
  readonly latencyUs: RecordableHistogram;

  constructor(name: string, latencyUs: RecordableHistogram = createHistogram()) {
    super(name);
    this.latencyUs = latencyUs;
  }

  override onAdd(added: Borrowed<unknown>, isInInitialList: boolean): unknown {
    if (!isInInitialList) this.#time(added);
    return super.onAdd(added, isInInitialList);
  }

  override onUpdate(previous: Borrowed<unknown>, current: Borrowed<unknown>): unknown {
    if (current.resourceVersion !== previous.resourceVersion) this.#time(current);
    return super.onUpdate(previous, current);
  }

  #time({ fields }: Borrowed<unknown>): void {
    const elapsedUs = Math.round(nowUs() - Number(fields[DUE_FIELD]));
    // Two processes read one clock, each with its own rounding.
    this.latencyUs.record(Math.max(1, elapsedUs));
  }
}
