/** Objects of the tests: pods, which most suites use, a custom resource, and changes of them on an embedded apiserver. */
import type { V1Pod } from '@kubernetes/client-node';
import type { Change, ResourceDefinition } from '../../src/tools/apiserver/testing/index.ts';
import { resources } from '../../src/index.ts';
import type { ResourceRef } from '../../src/index.ts';

export const PODS: ResourceRef = resources.core.v1.pods;

/** A custom resource for `resources` of an embedded apiserver. */
export const WIDGETS: ResourceDefinition = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
  custom: true,
};

/** Returns a pod with few fields. */
export function pod(name: string, labels: Record<string, string> = {}, namespace = 'default'): V1Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { nodeName: `node-${name.length}`, containers: [{ name: 'main', image: 'registry/app:1' }] },
  };
}

/** Returns `pod-0`, `pod-1` …, with annotations for their size if needed. */
export function pods(
  count: number,
  labels: Record<string, string> = {},
  annotations: Record<string, string> = {},
): V1Pod[] {
  return Array.from({ length: count }, (_, index) => annotated(pod(`pod-${index}`, labels), annotations));
}

export function annotated(object: V1Pod, annotations: Record<string, string>): V1Pod {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Returns the change that creates or replaces a pod. */
export function put(object: V1Pod): Change {
  return { type: 'put', resource: 'pods', object };
}

/** Returns the change that deletes a pod. */
export function deletion(name: string, namespace = 'default'): Change {
  return { type: 'delete', resource: 'pods', namespace, name };
}
