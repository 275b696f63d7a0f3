/**
 * Long deliveries of kubeloom, with the event loop's delay meanwhile: a handler that joins late, a resync,
 * and a relist that the server forces.
 */
import { setTimeout as after } from 'node:timers/promises';
import type { KubeObject, SharedIndexInformer } from '../../src/index.ts';
import type { Task } from '../task.ts';
import { Meter } from './meter.ts';
import type { Result } from './program.ts';

type Informer = SharedIndexInformer<KubeObject>;

/**
 * A resync cannot be requested at a given moment, and it repeats. The next resync must not begin before the first
 * resync, and the handler's initial list, have ended, however slow the machine.
 */
const RESYNC_PERIOD_MS_MIN = 1000;
const OBJECTS_PER_MS_MIN = 50;

export function resyncPeriodMs(objects: number): number {
  return Math.max(RESYNC_PERIOD_MS_MIN, Math.ceil(objects / OBJECTS_PER_MS_MIN));
}

const POLL_MS = 1;
const SETTLE_MS = 500;

export async function delivery(informer: Informer, task: Task): Promise<Result> {
  const failed = new Promise<never>((_, reject) => void informer.run().catch(reject));
  const measure = task.case === 'relist' ? relist : task.case === 'resync' ? resync : lateHandler;
  return await Promise.race([measure(informer, task), failed]);
}

/** Measures from joining to the last object of the initial list. */
async function lateHandler(informer: Informer, { objects }: Task): Promise<Result> {
  await informer.waitForSync();
  await after(SETTLE_MS);
  const meter = new Meter();
  return await counted(objects, meter, (count) => {
    informer.addEventHandler({ onAdd: (entry) => count(entry.key.length) });
  });
}

/** Measures from the first object of a resync to the last. */
async function resync(informer: Informer, { objects }: Task): Promise<Result> {
  await informer.waitForSync();
  const meter = new Meter();
  let isFirst = true;
  return await counted(objects, meter, (count) => {
    const onUpdate = (_previous: unknown, entry: { readonly key: string }): void => {
      if (isFirst) meter.start();
      isFirst = false;
      count(entry.key.length);
    };
    informer.addEventHandler({ onUpdate }, { resyncPeriodMs: resyncPeriodMs(objects) });
  });
}

function counted(
  objects: number,
  meter: Meter,
  begin: (count: (keyLength: number) => void) => void,
): Promise<Result> {
  return new Promise((resolve) => {
    let calls = 0;
    let checksum = 0;
    begin((keyLength) => {
      checksum += keyLength;
      if (++calls === objects) resolve({ events: objects, checksum, ...meter.stop() });
    });
  });
}

/** Measures from the end of the watch until the next watch is open and the whole list is merged. */
async function relist(informer: Informer, { objects }: Task): Promise<Result> {
  let checksum = 0;
  const onChange = (entry: { readonly key: string }): void => void (checksum += entry.key.length);
  informer.addEventHandler({ onAdd: onChange, onUpdate: (_previous, entry) => onChange(entry) });
  await informer.waitForSync();
  const isWatching = (): boolean => informer.phase === 'watching';
  await until(isWatching);
  await until(() => !isWatching());
  const meter = new Meter();
  await until(isWatching);
  await until(() => informer.health.unmerged < objects / 100);
  return { events: objects, checksum, ...meter.stop() };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await after(POLL_MS);
}
