/** Index functions of client-go, for stores that hold objects; those of informers are in src/replica/store. */
import { KubeloomError } from '../../base/errors.ts';
import { accessor } from '../../kube/meta.ts';
import type { IndexValuesFunction, KeyFunction } from '../../kube/store.ts';

/** Returns the namespace, '' for an object without one. Every informer has it under `NAMESPACE_INDEX`. */
export function metaNamespaceIndexFunc(object: unknown): string[] {
  return [accessor(object).namespace];
}

/**
 * Returns a key function made from an index function that gives each item one value of its own.
 *
 * @returns a function that throws ERR_KUBELOOM_INDEX_KEY for an item with no value or several values
 */
export function indexFuncToKeyFuncAdapter<Item>(indexFunction: IndexValuesFunction<Item>): KeyFunction<Item> {
  return (item) => {
    const [value, ...others] = indexFunction(item);
    if (value !== undefined && others.length === 0) return value;
    const count = value === undefined ? 'no value' : `${others.length + 1} values`;
    throw new KubeloomError('ERR_KUBELOOM_INDEX_KEY', `a key needs exactly one index value: it has ${count}`);
  };
}
