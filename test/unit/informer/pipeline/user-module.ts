/** Example of a user's module for the shards: index functions and transforms by export name. */
import type { V1Pod } from '@kubernetes/client-node';

export function byImage(pod: V1Pod): string[] {
  return pod.spec?.containers.flatMap(({ image }) => image ?? []) ?? [];
}

export function strip(pod: V1Pod): V1Pod {
  delete pod.spec;
  pod.metadata = { ...pod.metadata, labels: { app: 'transformed' } };
  return pod;
}

export function fail(): never {
  throw new Error('no');
}

export const notAFunction = 42;

export function endThread(): never {
  process.exit(7);
}
