/** Pods that ask the module of these tests to do something to its thread. */
import type { V1Pod } from '@kubernetes/client-node';
import { pod } from '../pipeline/harness.ts';

/** @param once a path: the deed is done once, by who creates it */
export function asking(name: string, deed: string, once?: string): V1Pod {
  const annotations = { 'test/deed': deed, ...(once === undefined ? {} : { 'test/once': once }) };
  const { metadata, ...rest } = pod(name);
  return { ...rest, metadata: { ...metadata, annotations } };
}
