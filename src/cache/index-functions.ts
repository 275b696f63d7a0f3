/** Index functions of client-go, for stores that hold objects; those of informers are in src/store. */
import { KubeloomError } from '../errors.ts';
import { accessor } from '../kube/meta.ts';
import type { IndexValuesFunction, KeyFunction } from './store.ts';

/** The namespace, '' for what has none. Under `NAMESPACE_INDEX`, as every informer has it. */
export function metaNamespaceIndexFunc(object: unknown): string[] {
  return [accessor(object).namespace];
}

/**
 * A key function from an index function that gives each item one value of its own.
 *
 * @returns a function that throws ERR_KUBELOOM_INDEX_KEY for an item with no value, or with several
 */
export function indexFuncToKeyFuncAdapter<Item>(indexFunction: IndexValuesFunction<Item>): KeyFunction<Item> {
  return (item) => {
    const [value, ...others] = indexFunction(item);
    if (value !== undefined && others.length === 0) return value;
    const count = value === undefined ? 'no value' : `${others.length + 1} values`;
    throw new KubeloomError('ERR_KUBELOOM_INDEX_KEY', `a key needs exactly one index value: it has ${count}`);
  };
}
