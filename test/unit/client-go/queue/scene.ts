/** Helpers of the tests of all queues: known objects from a text, and popping all changes. */
import type { ReflectorStore } from '../../../../src/kube/store.ts';
import type { KnownObjects } from '../../../../src/client-go/queue/known-objects.ts';
import type { Queue } from '../../../../src/client-go/queue/queue.ts';
import type { Deltas } from '../../../../src/client-go/queue/delta.ts';
import { deltasText, object, objects, textOf, type TestObject } from './notation.ts';

export type Step =
  | readonly ['add' | 'update' | 'delete', string]
  | readonly ['replace', string, string]
  | readonly ['bookmark', string]
  | readonly ['resync'];

export function known(text: string): KnownObjects<TestObject> {
  const byKey = new Map(objects(text).map((item) => [item.metadata.name, item]));
  return { listKeys: () => [...byKey.keys()], getByKey: (key) => byKey.get(key) };
}

export function perform(queue: ReflectorStore<TestObject>, steps: readonly Step[]): void {
  for (const step of steps) {
    if (step[0] === 'resync') queue.resync();
    else if (step[0] === 'bookmark') queue.bookmark?.(step[1]);
    else if (step[0] === 'replace') queue.replace(objects(step[2]), step[1]);
    else queue[step[0]](object(step[1]));
  }
}

interface Sized {
  readonly size: number;
}

/** Pops everything: one text for each pop. */
export async function popAll(queue: Queue<TestObject, Deltas<TestObject>> & Sized): Promise<string[]> {
  const popped: string[] = [];
  while (queue.size > 0) popped.push(deltasText(await queue.pop(() => {})));
  return popped;
}

export async function popAllObjects(queue: Queue<TestObject, TestObject> & Sized): Promise<string[]> {
  const popped: string[] = [];
  while (queue.size > 0) popped.push(textOf(await queue.pop(() => {})));
  return popped;
}

/** Returns a promise and the function that resolves it. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((onResolve) => {
    resolve = onResolve;
  });
  return { promise, resolve };
}
