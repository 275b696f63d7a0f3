/** States of objects, with the fields that predicates and queueing read. */
import type { ObjectChange } from '../../../src/controller/index.ts';
import type { Borrowed, KubeObject } from '../../../src/index.ts';

/** Returns a state as a handler borrows it; `default/web` unless the fields say otherwise. */
export function state(fields: object = {}): Borrowed<KubeObject> {
  const identity = { key: 'default/web', namespace: 'default', name: 'web', labels: {}, metadata: {} };
  return { finalStateUnknown: false, ...identity, ...fields } as unknown as Borrowed<KubeObject>;
}

export function update(before: object, after: object): ObjectChange<KubeObject> {
  return { type: 'update', previous: state(before), object: state(after) };
}
