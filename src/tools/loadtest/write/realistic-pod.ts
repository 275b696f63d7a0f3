/**
 * A pod as clusters have it: the counts of labels, annotations, containers, variables and volumes are those of the pod with
 * which Kubernetes tests its own scalability. Pure.
 */

const IMAGE = 'registry.example.com/store/checkout';
const STARTED_AT = '2026-01-05T08:00:00Z';

const LABELS: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'checkout',
  'app.kubernetes.io/instance': 'checkout-eu-west',
  'app.kubernetes.io/version': '4.12.0',
  'app.kubernetes.io/component': 'api',
  'app.kubernetes.io/part-of': 'store',
  'example.com/team': 'payments',
  'example.com/tier': 'frontend',
  'pod-template-hash': '6c9fbd7c48',
};

const ANNOTATIONS: Readonly<Record<string, string>> = {
  'kubernetes.io/config.seen': STARTED_AT,
  'kubectl.kubernetes.io/default-container': 'checkout',
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true',
  'example.com/metrics-port': '9464',
  'example.com/metrics-path': '/metrics',
  'example.com/log-format': 'json',
  'example.com/config-digest': 'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef',
  'example.com/rollout': 'checkout-2026-01-05-3',
};

const RESOURCES = { requests: { cpu: '5m', memory: '20M' }, limits: { cpu: '500m', memory: '256M' } };

const SPEC = {
  initContainers: ['migrate', 'warm-up'].map((name) => ({
    name,
    image: `${IMAGE}-tools:4.12.0`,
    command: ['/bin/sh', '-c', `/opt/${name}`],
  })),
  containers: [
    {
      name: 'checkout',
      image: `${IMAGE}:4.12.0`,
      env: [
        ...Object.entries({
          POD_NAME: 'metadata.name',
          POD_NAMESPACE: 'metadata.namespace',
          NODE_NAME: 'spec.nodeName',
          POD_IP: 'status.podIP',
        }).map(([name, fieldPath]) => ({ name, valueFrom: { fieldRef: { fieldPath } } })),
        ...Object.entries({ CPU_LIMIT: 'limits.cpu', MEMORY_LIMIT: 'limits.memory' }).map(
          ([name, resource]) => ({
            name,
            valueFrom: { resourceFieldRef: { containerName: 'checkout', resource } },
          }),
        ),
        { name: 'DATABASE_URL', value: 'postgres://checkout@database:5432/checkout' },
        { name: 'CACHE_URL', value: 'redis://cache:6379/2' },
        { name: 'LOG_LEVEL', value: 'info' },
        { name: 'NODE_OPTIONS', value: '--max-old-space-size=192' },
      ],
      resources: RESOURCES,
      volumeMounts: [
        { name: 'settings', mountPath: '/etc/checkout' },
        { name: 'credentials', mountPath: '/etc/credentials', readOnly: true },
      ],
    },
    { name: 'proxy', image: `${IMAGE}-proxy:1.9.2`, resources: RESOURCES },
  ],
  terminationGracePeriodSeconds: 1,
  volumes: [
    { name: 'settings', configMap: { name: 'checkout' } },
    { name: 'credentials', secret: { secretName: 'checkout' } },
  ],
};

/** Members of a pod; a writer adds its own labels and annotations. */
export interface PodShape {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: object;
}

export const REALISTIC_POD: PodShape = { labels: LABELS, annotations: ANNOTATIONS, spec: SPEC };

const CONDITIONS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];

/** The status as a kubelet reports it. */
export const REALISTIC_STATUS: object = {
  phase: 'Running',
  hostIP: '10.0.0.4',
  podIP: '10.1.0.17',
  podIPs: [{ ip: '10.1.0.17' }],
  startTime: STARTED_AT,
  conditions: CONDITIONS.map((type) => ({ type, status: 'True', lastTransitionTime: STARTED_AT })),
  initContainerStatuses: ['migrate', 'warm-up'].map((name) =>
    containerStatus(name, {
      terminated: { exitCode: 0, reason: 'Completed', startedAt: STARTED_AT, finishedAt: STARTED_AT },
    }),
  ),
  containerStatuses: ['checkout', 'proxy'].map((name) =>
    containerStatus(name, { running: { startedAt: STARTED_AT } }),
  ),
};

function containerStatus(name: string, state: object): object {
  return {
    name,
    image: `${IMAGE}:4.12.0`,
    imageID: `${IMAGE}@sha256:9c1b6dd6c1be9b4a3b9e0f5d2f0b8a70b7b5c3e4d2a1908f7e6d5c4b3a291807`,
    containerID: 'containerd://5d3c4f0a9b1e2d7c8f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e',
    lastState: {},
    ready: true,
    restartCount: 0,
    state,
  };
}
