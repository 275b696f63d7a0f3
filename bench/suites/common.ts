/** Helpers of the tables of cases. */
import type { SourceOptions } from '../source/server.ts';
import type { Goal } from '../case.ts';
import type { ClientName, Unit } from '../names.ts';
import type { Handler } from '../task.ts';

/** A pod with managedFields in a real cluster. */
export const POD_BYTES = 5120;
export const SMALL_BYTES = 1024;
export const HANDLERS: readonly Handler[] = ['key', 'metadata', 'fields', 'object'];

/** Gives each client the same number of events. */
export function each<T extends ClientName>(clients: readonly T[], events: number): Record<T, number> {
  return Object.fromEntries(clients.map((client) => [client, events])) as Record<T, number>;
}

/** A collection that does not change. */
export function still(pods: number, objectBytes: number = POD_BYTES): SourceOptions & SourceSize {
  return { pods, objectBytes, events: 0, roundBytesMax: objectBytes };
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
