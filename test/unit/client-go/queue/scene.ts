/** The parts of the tests of all queues: the queues by name, known objects from a text, and popping all changes. */
import { DeltaFIFO } from '../../../../src/client-go/queue/delta-fifo.ts';
import type { Deltas, Transformer } from '../../../../src/client-go/queue/delta.ts';
import { FIFO } from '../../../../src/client-go/queue/fifo.ts';
import type { KnownObjects } from '../../../../src/client-go/queue/known-objects.ts';
import type { Queue } from '../../../../src/client-go/queue/queue.ts';
import { RealFIFO } from '../../../../src/client-go/queue/real-fifo.ts';
import type { KeyFunction, ReflectorStore } from '../../../../src/kube/store.ts';
import { deltasText, object, objects, stepsOf, textOf } from './notation.ts';
import type { Step, TestObject } from './notation.ts';

export interface Options {
  /** Known objects, as `a@2 b@3`. Without it a DeltaFIFO has no known objects, and a RealFIFO knows none. */
  readonly known?: string;
  readonly keyFunction?: KeyFunction<TestObject>;
  readonly transformer?: Transformer<TestObject>;
}

export type AnyQueue = Queue<TestObject, unknown> & { readonly size: number; readonly isClosed: boolean };

export type QueueName = 'FIFO' | 'DeltaFIFO' | 'RealFIFO' | 'atomic RealFIFO';

export const QUEUES: Readonly<Record<QueueName, (options?: Options) => AnyQueue>> = {
  FIFO: (options) => new FIFO<TestObject>(options),
  DeltaFIFO: (options) => deltaFifo(options),
  RealFIFO: (options) => realFifo(options),
  'atomic RealFIFO': (options) => atomicFifo(options),
};

export function deltaFifo({ known: text, ...options }: Options = {}): DeltaFIFO<TestObject> {
  return new DeltaFIFO(text === undefined ? options : { ...options, knownObjects: known(text) });
}

export function realFifo({ known: text = '', ...options }: Options = {}): RealFIFO<TestObject> {
  return new RealFIFO<TestObject>({ ...options, knownObjects: known(text) });
}

/** Returns a RealFIFO with atomic events and bookmarks. */
export function atomicFifo({ keyFunction, transformer }: Options = {}): RealFIFO<TestObject> {
  const options = { ...(keyFunction ? { keyFunction } : {}), ...(transformer ? { transformer } : {}) };
  return new RealFIFO<TestObject>({ ...options, atomicEvents: true, emitDeltaTypeBookmark: true });
}

export function known(text: string): KnownObjects<TestObject> {
  const byKey = new Map(objects(text).map((item) => [item.metadata.name, item]));
  return { listKeys: () => [...byKey.keys()], getByKey: (key) => byKey.get(key) };
}

/** Performs steps, as values or as text: `replace 5 [a@1 b@2], update a@6, resync`. */
export function perform(queue: ReflectorStore<TestObject>, steps: readonly Step[] | string): void {
  for (const step of typeof steps === 'string' ? stepsOf<Step>(steps) : steps) {
    if (step[0] === 'resync') queue.resync();
    else if (step[0] === 'bookmark') queue.bookmark?.(step[1]);
    else if (step[0] === 'replace') queue.replace(objects(step[2]), step[1]);
    else queue[step[0]](object(step[1]));
  }
}

/** Returns a popped value, an object or deltas, as text. */
export function poppedText(popped: unknown): string {
  return Array.isArray(popped) ? deltasText(popped as Deltas<TestObject>) : textOf(popped as TestObject);
}

/** Pops everything: one text for each pop, separated as in the tables. */
export async function popAll(queue: AnyQueue): Promise<string> {
  const popped: string[] = [];
  while (queue.size > 0) popped.push(poppedText(await queue.pop(() => {})));
  return popped.join(' | ');
}

/** Processes nothing. */
export const ignore = (): void => {};
