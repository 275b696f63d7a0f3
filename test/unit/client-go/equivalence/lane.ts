/**
 * A lane plays a history: from a server that performs the steps, through an informer, to a handler. All lanes
 * perform the same steps, and their handler calls are compared.
 *
 * Between two `process` steps all changes accumulate, as in the table of the queues: a lane holds them before
 * they are popped, or in the handler's first call.
 */
import type { FakeClock } from '../../../../src/tools/apiserver/testing/index.ts';
import type { HistoryStep } from '../queue/notation.ts';
import type { SteppedSource } from './stepped-source.ts';

export { setImmediate as turn } from 'node:timers/promises';

/** Period of the `resync` steps: the least that a shared informer accepts. */
export const RESYNC_PERIOD_MS = 1000;

export interface Lane {
  readonly source: SteppedSource;
  readonly clock: FakeClock;
  /** Handler calls in the notation of the table. */
  readonly calls: readonly string[];
  /** Popped values, in lanes with a visible queue. */
  readonly popped?: readonly string[];
  /** Returns the content of the store. */
  stored(): readonly string[];
  /** Resolves when the changes up to this version are in the store, or in the queue before it. */
  arrived(version: string): Promise<void>;
  /** Releases the held changes until none is left. */
  process(): Promise<void>;
  stop(): Promise<void>;
}

export interface Played {
  readonly calls: readonly string[];
  readonly popped: readonly string[] | undefined;
  /** Content of the store, in the order of the keys. */
  readonly stored: readonly string[];
}

/** Performs the steps, then processes the rest. */
export async function play(lane: Lane, steps: readonly HistoryStep[]): Promise<Played> {
  for (const step of [...steps, ['process'] as const]) {
    if (step[0] === 'process') {
      await lane.process();
    } else if (step[0] === 'resync') {
      lane.clock.advance(RESYNC_PERIOD_MS);
    } else {
      await lane.source.perform(step);
      await lane.arrived(lane.source.version);
    }
  }
  const played = { calls: lane.calls, popped: lane.popped, stored: [...lane.stored()].toSorted() };
  await lane.stop();
  return played;
}
