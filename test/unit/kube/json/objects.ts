/**
 * Kubernetes objects for the scanners: a pod in Go's field order with managedFields, the same with sorted keys
 * like a custom resource, and difficult cases in both.
 */
import type { Json } from './random-json.ts';

export function podObject(index: number, extra: { [key: string]: Json } = {}): { [key: string]: Json } {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `web-${index}`,
      generateName: 'web-',
      namespace: `team-${index % 7}`,
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      resourceVersion: String(1000 + index),
      generation: 3,
      creationTimestamp: '2026-11-20T17:32:00Z',
      ...extra,
      labels: { app: 'web', 'app.kubernetes.io/name': 'wéb', tier: String(index % 3) },
      annotations: { note: '{"name":"fake","uid":"fake"}', 'example.com/motto': 'Grüße, "Welt" \\ 😀' },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'not-the-controller' },
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'owner-uid', controller: true },
      ],
      managedFields: [
        {
          manager: 'kubelet',
          fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'k:{"name":"x"}': {} } }, name: 'fake' },
        },
      ],
    },
    spec: { nodeName: `node-${index % 5}`, containers: [{ name: 'web', image: 'web:1', ports: [] }] },
    status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** Returns the same value with the keys of every object sorted, as the apiserver writes custom resources. */
export function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
}

/** Copies `text` into a larger shared buffer, so that wrong bounds and offsets become visible. */
export function embed(text: string, padding = '"}]{\\'): { bytes: Buffer; start: number; end: number } {
  const before = Buffer.from(padding);
  const middle = Buffer.from(text);
  const shared = Buffer.from(new SharedArrayBuffer(middle.length + 2 * before.length + 3), 3);
  shared.set(before, 0);
  shared.set(middle, before.length);
  shared.set(before, before.length + middle.length);
  return { bytes: shared, start: before.length, end: before.length + middle.length };
}
