/** The address of a task's server, in the form that Kubernetes clients expect. */
import type { KubeConfig } from '@kubernetes/client-node';
import type { Task } from '../task.ts';

const NAME = 'bench';
export const WIDGETS = { group: 'example.com', version: 'v1' } as const;

/** Returns a kubeconfig. client-node refuses plain HTTP unless verification is switched off. */
export function kubeConfigOf(task: Task): string {
  const trust = task.ca
    ? { 'certificate-authority-data': Buffer.from(task.ca).toString('base64') }
    : { 'insecure-skip-tls-verify': true };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    clusters: [{ name: NAME, cluster: { server: task.url, ...trust } }],
    users: [{ name: NAME, user: task.token ? { token: task.token } : {} }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
  });
}

export function loadKubeConfig(config: KubeConfig, task: Task): KubeConfig {
  config.loadFromString(kubeConfigOf(task));
  return config;
}

/** The collection's path. */
export function pathOf(resource: string): string {
  if (resource === 'pods') return '/api/v1/pods';
  return `/apis/${WIDGETS.group}/${WIDGETS.version}/${resource}`;
}

/** The collection, or one for each informer. */
export function resourcesOf({ resource, informers }: Task): string[] {
  if (informers === undefined) return [resource];
  return Array.from({ length: informers }, (_, index) => `${resource}${index}`);
}
