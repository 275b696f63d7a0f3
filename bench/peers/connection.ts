/** The address of a task's server, in the form that Kubernetes clients expect. */
import type { KubeConfig } from '@kubernetes/client-node';
import { connectionOf, kubeConfigOf } from '../../src/tools/apiserver/wire/kubeconfig.ts';
import type { ResourceRef, ServerConnection } from '../../src/index.ts';
import type { Task } from '../task.ts';

export const WIDGETS = { group: 'example.com', version: 'v1' } as const;

export function kubeConfigText({ url, token = '', ca = '' }: Task): string {
  return JSON.stringify(kubeConfigOf({ url, token, ca }));
}

/** The connection object of a program that does without a kubeconfig, and without client-node. */
export function connectionTo({ url, token = '', ca = '' }: Task): ServerConnection {
  return connectionOf({ url, token, ca });
}

export function loadKubeConfig(config: KubeConfig, task: Task): KubeConfig {
  config.loadFromString(kubeConfigText(task));
  return config;
}

/** The collection's path. */
export function pathOf(resource: string): string {
  if (resource === 'pods') return '/api/v1/pods';
  return `/apis/${WIDGETS.group}/${WIDGETS.version}/${resource}`;
}

export function resourceRef(resource: string): ResourceRef {
  if (resource === 'pods') return { group: '', version: 'v1', resource, kind: 'Pod', isNamespaced: true };
  return { ...WIDGETS, resource, kind: 'Widget', isNamespaced: true };
}

/** The collection, or a collection for each informer. */
export function resourcesOf({ resource, informers }: Task): string[] {
  if (informers === undefined) return [resource];
  return Array.from({ length: informers }, (_, index) => `${resource}${index}`);
}
