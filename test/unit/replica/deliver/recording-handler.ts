/** Handlers and listeners for tests, which record calls in order as short lines of text. */
import { ProcessorListener } from '../../../../src/replica/deliver/processor-listener.ts';
import { SLOW_LIMITS } from '../../../../src/replica/deliver/handler-calls.ts';
import type { ListenerOptions } from '../../../../src/replica/deliver/processor-listener.ts';
import type { ResourceEventHandler } from '../../../../src/replica/deliver/handler.ts';
import { emptyDelivery } from '../../../../src/replica/store/deliveries.ts';
import type { Delivery } from '../../../../src/replica/store/deliveries.ts';
import { FakeClock } from '../../reflector/fake-clock.ts';
import { line } from '../store/scripted-replica.ts';

/** Reaction in a call, after it was recorded. */
export type Reaction = (text: string, delivery: Delivery) => unknown;

/** Makes a handler of one function for all kinds of notifications. */
export function handlerOf(called: (delivery: Delivery) => unknown): ResourceEventHandler<unknown> {
  const call = (delivery: { [Key in keyof Delivery]?: unknown }): unknown =>
    called({ ...emptyDelivery(), ...delivery } as Delivery);
  return {
    onAdd: (newEntry, isInInitialList) => call({ newEntry, isInInitialList }),
    onUpdate: (oldEntry, newEntry) => call({ oldEntry, newEntry }),
    onDelete: (deleted) =>
      deleted.finalStateUnknown
        ? call({ oldEntry: deleted.last, isFinalStateUnknown: true })
        : call({ oldEntry: deleted }),
  };
}

/** Records every call in `calls`, in the words of `line`. */
export function recordingHandler(
  calls: string[],
  react: Reaction = () => undefined,
): ResourceEventHandler<unknown> {
  return handlerOf((delivery) => {
    const text = line(delivery);
    calls.push(text);
    return react(text, delivery);
  });
}

/** The reports of a listener, and how often it could continue. */
export interface Reports {
  readonly errors: { readonly error: unknown; readonly key: string; readonly registeredAt: string }[];
  /** Durations of the calls reported as slow; undefined for a notification that waited too long. */
  readonly slow: (number | undefined)[];
  ready: number;
  synced: number;
}

export function newListener(
  handler: ResourceEventHandler<unknown>,
  options: Pick<ListenerOptions, 'table'> & Partial<ListenerOptions>,
): { listener: ProcessorListener; reports: Reports } {
  const reports: Reports = { errors: [], slow: [], ready: 0, synced: 0 };
  const listener = new ProcessorListener({
    handler,
    origin: () => ({ name: 'pods', group: '', version: 'v1', resource: 'pods', handler: 'recording' }),
    registeredAt: '    at registered.js:1:1',
    onError: (error, key, registeredAt) => reports.errors.push({ error, key, registeredAt }),
    clock: new FakeClock(),
    slowLimits: SLOW_LIMITS,
    onSlow: (callMs) => reports.slow.push(callMs),
    onReady: () => reports.ready++,
    onPressure: () => undefined,
    onSynced: () => reports.synced++,
    ...options,
  });
  return { listener, reports };
}
