/** Pods that make the tests' module do something to its thread. */
import type { V1Pod } from '@kubernetes/client-node';
import { pod } from '../../unit/informer/pipeline/harness.ts';

/**
 * Returns a pod with the request.
 *
 * @param once path of a file; only the thread that creates it does the deed
 */
export function asking(name: string, deed: string, once?: string): V1Pod {
  const annotations = { 'test/deed': deed, ...(once === undefined ? {} : { 'test/once': once }) };
  const { metadata, ...rest } = pod(name);
  return { ...rest, metadata: { ...metadata, annotations } };
}
