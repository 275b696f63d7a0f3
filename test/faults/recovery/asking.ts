/** The tests' module, and pods that make it do something to its thread. */
import type { V1Pod } from '@kubernetes/client-node';
import { transformModule } from '../../../src/index.ts';
import type { Transform } from '../../../src/index.ts';
import { annotated, pod } from '../../kit/objects.ts';

export const MODULE: string = new URL('./user-module.js', import.meta.url).href;
/** The transform that does what an object requests. */
export const PERFORM: Transform<V1Pod> = transformModule(MODULE, 'perform');

/**
 * Returns a pod with the request.
 *
 * @param once path of a file; only the thread that creates it does the deed
 */
export function asking(name: string, deed: string, once?: string): V1Pod {
  return annotated(pod(name), { 'test/deed': deed, ...(once === undefined ? {} : { 'test/once': once }) });
}
