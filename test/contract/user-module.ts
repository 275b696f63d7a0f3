/** A user's module for the shards: transforms and index functions by export name. */
import type { V1Pod } from '@kubernetes/client-node';

export function byImage(pod: V1Pod): string[] {
  return pod.spec?.containers.flatMap(({ image }) => image ?? []) ?? [];
}

export function mark(pod: V1Pod): V1Pod {
  delete pod.spec;
  const marks = Number(pod.metadata?.labels?.['marks'] ?? 0) + 1;
  pod.metadata = { ...pod.metadata, labels: { ...pod.metadata?.labels, marks: `${marks}` } };
  return pod;
}

export function failOnBad(pod: V1Pod): V1Pod {
  if (pod.metadata?.name === 'bad') throw new Error('refused by the transform');
  return mark(pod);
}

export function rename(pod: V1Pod): V1Pod {
  pod.metadata = { ...pod.metadata, name: 'another' };
  return pod;
}

/** Adds labels, annotations and owners as JavaScript adds members: behind all others. */
export function decorate(pod: V1Pod): V1Pod {
  const { labels, annotations, ownerReferences, ...rest } = pod.metadata ?? {};
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'owner', controller: true };
  pod.metadata = { ...rest, labels: { team: 'x', ...labels }, annotations: { note: 'y', ...annotations } };
  pod.metadata.ownerReferences = ownerReferences ?? [owner];
  return pod;
}

export function disguise(pod: V1Pod): V1Pod {
  const other = { ...pod, metadata: { ...pod.metadata, name: 'another' } };
  return Object.assign(pod, { toJSON: () => other });
}

export const notAFunction = 42;
