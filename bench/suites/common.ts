/** Helpers of the tables of cases. */
import type { SourceOptions } from '../source/server.ts';
import type { Goal } from '../case.ts';
import type { ClientName, Unit } from '../names.ts';
import type { Handler } from '../task.ts';

/** A pod with managedFields in a real cluster. */
export const POD_BYTES = 5120;
export const SMALL_BYTES = 1024;
/** The handlers of the suite `watch`. Programs have handlers of their own. */
export const HANDLERS = ['key', 'metadata', 'fields', 'object'] as const satisfies readonly Handler[];
export type WatchHandler = (typeof HANDLERS)[number];

/** Gives each client the same number of events. */
export function each<T extends ClientName>(clients: readonly T[], events: number): Record<T, number> {
  return Object.fromEntries(clients.map((client) => [client, events])) as Record<T, number>;
}

/** A collection that does not change. */
export function still(pods: number, objectBytes: number = POD_BYTES): SourceOptions & SourceSize {
  return { pods, objectBytes, events: 0, roundBytesMax: objectBytes };
}

/** Seconds of events: longer than settling and section. */
const STREAM_SECONDS = 60;

/** A watch over TLS, an event a write, at a rate after the events of a warm-up. */
export function paced(pods: number, ratePerSecond: number, warmUpEvents: number): SourceOptions & SourceSize {
  return {
    pods,
    objectBytes: POD_BYTES,
    events: warmUpEvents + ratePerSecond * STREAM_SECONDS,
    warmUpEvents,
    ratePerSecond,
    quietMs: 1000,
    chunkPerEvent: true,
    tls: true,
  };
}

/** A goal for a figure itself. */
export function atMost(value: number, unit: Unit, figure: string = ''): Goal {
  return { unit, figure, relation: 'at most', value };
}

/** A goal for a ratio; above 1, kubeloom is better. */
export function ratioAtLeast(value: number, unit: Unit, to: NonNullable<Goal['to']> = 'javascript'): Goal {
  return { unit, figure: '', to, relation: 'at least', value };
}

export interface SourceSize {
  readonly pods: number;
  readonly objectBytes: number;
}
