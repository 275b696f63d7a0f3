/**
 * A lane plays a history: from a server that does what the steps say, through an informer, to a handler. All
 * lanes do the same steps, and what their handlers are told is compared.
 *
 * Between two `process` everything piles up, as in the table of the queues: what has arrived is held, before it
 * is popped, or with the handler's first call.
 */
import type { FakeClock } from '../../src/testing/index.ts';
import type { HistoryStep } from '../queue/histories.ts';
import type { SteppedSource } from './stepped-source.ts';

/** The steps `resync` are ticks of this period: the least that a shared informer takes. */
export const RESYNC_PERIOD_MS = 1000;

/** Nothing here takes so long: what hangs ends with the title of its test. */
export const PATIENT = { timeout: 60_000 } as const;

export interface Lane {
  readonly source: SteppedSource;
  readonly clock: FakeClock;
  /** What the handler was told, in the words of the table. */
  readonly told: readonly string[];
  /** What was popped, where there is a queue to look at. */
  readonly popped?: readonly string[];
  /** What is in the store. */
  stored(): readonly string[];
  /** Resolves when what the server has sent is in the store, or in the queue before it. */
  arrived(version: string): Promise<void>;
  /** Lets go of what is held until nothing is left. */
  process(): Promise<void>;
  stop(): Promise<void>;
}

export interface Played {
  readonly told: readonly string[];
  readonly popped: readonly string[] | undefined;
  /** In the order of the keys. */
  readonly stored: readonly string[];
}

/** What is left at the end is processed as well. */
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
  const played = { told: lane.told, popped: lane.popped, stored: [...lane.stored()].toSorted() };
  await lane.stop();
  return played;
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
