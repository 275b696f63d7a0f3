/**
 * Pods like those of a cluster: owner, labels, managedFields, spec and a running status, padded to a given size. A
 * third of a 5 KB pod are managedFields, as in real clusters. Pods of a ReplicaSet differ as in real clusters: in uid,
 * addresses, times, and the ids of the container and of the token's volume.
 */

import { createHash } from 'node:crypto';
import type { JsonObject, KubeObject } from '../store/json.ts';
import { STAMP } from './load-template.ts';

export interface SampleOptions {
  readonly index: number;
  readonly namespace: string;
  /** Exact length of the JSON; less than about 1,000 gives the smallest possible pod. */
  readonly bytes: number;
  /** Default true. If false, padding takes the place of managedFields. */
  readonly managedFields?: boolean;
}

const APPS = ['web', 'api', 'worker', 'cache', 'queue', 'search', 'auth', 'batch'];
const EPOCH_MS = Date.parse('2026-01-15T10:00:00Z');
/** All pods were created within this time, in seconds. */
const CREATED_WITHIN_S = 30 * 86_400;
const FULL_BYTES = 5_000;
/** Bytes of JSON for an environment variable of the padding. */
const ENV_BYTES = 110;
const PADDING = 'kubeloom.dev/padding';
/** The key of the padding, and the resourceVersion of 7 digits. */
const PADDING_OVERHEAD = `,"${PADDING}":""`.length + `"resourceVersion":"1234567",`.length;

export function samplePod(options: SampleOptions): KubeObject {
  const { bytes } = options;
  const digest = sampleDigest(options.index);
  const pod = bytes < FULL_BYTES ? smallPod(options, digest) : fullPod(options, digest);
  pod.metadata.annotations = { ...pod.metadata.annotations, ...STAMP };
  const missing = bytes - JSON.stringify(pod).length - PADDING_OVERHEAD;
  if (missing > 0) pod.metadata.annotations[PADDING] = 'x'.repeat(missing);
  return pod;
}

export function sampleName(index: number): string {
  return `${APPS[index % APPS.length]}-6d5f8c7b9-${String(index).padStart(7, '0')}`;
}

/**
 * Returns 64 hexadecimal digits, unique to the pod. All differences between siblings are made of them; the id of the
 * pod's container is `containerd://` and all of them.
 */
export function sampleDigest(index: number): string {
  return createHash('sha256').update(`pod ${index}`).digest('hex');
}

/** Returns the uid of a pod; all uids begin with the same eight digits. */
export function sampleUid(index: number): string {
  return uidOf(1, sampleDigest(index));
}

function uidOf(kind: number, digits: string): string {
  const group = (from: number, to: number): string => digits.slice(from, to);
  return `${kind.toString(16).padStart(8, '0')}-${group(0, 4)}-4${group(4, 7)}-8${group(7, 10)}-${group(10, 22)}`;
}

function ownerUid(index: number): string {
  return uidOf(2, (index % APPS.length).toString(16).padStart(22, '0'));
}

/** Returns the time at which the pod was created, plus `laterS` seconds. */
function timeOf(digest: string, laterS: number = 0): string {
  const createdS = Number.parseInt(digest.slice(0, 8), 16) % CREATED_WITHIN_S;
  return `${new Date(EPOCH_MS + (createdS + laterS) * 1000).toISOString().slice(0, 19)}Z`;
}

function tokenVolume(digest: string): string {
  return `kube-api-access-${digest.slice(-5)}`;
}

function smallPod({ index, namespace }: SampleOptions, digest: string): KubeObject {
  const app = APPS[index % APPS.length] ?? 'web';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: sampleName(index),
      generateName: `${app}-6d5f8c7b9-`,
      namespace,
      uid: uidOf(1, digest),
      creationTimestamp: timeOf(digest),
      labels: { app, 'pod-template-hash': '6d5f8c7b9', tier: index % 2 === 0 ? 'front' : 'back' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-6d5f8c7b9`,
          uid: ownerUid(index),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      nodeName: `node-${index % 100}`,
      restartPolicy: 'Always',
      containers: [{ name: app, image: `registry.example.com/${app}:1.27.3` }],
    },
    status: { phase: 'Running', podIP: ip(index), hostIP: `10.0.0.${index % 250}` },
  };
}

function ip(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

function fullPod(options: SampleOptions, digest: string): KubeObject {
  const small = smallPod(options, digest);
  const { index, bytes } = options;
  const app = APPS[index % APPS.length] ?? 'web';
  const envCount = Math.max(0, Math.floor((bytes - FULL_BYTES - 500) / ENV_BYTES));
  return {
    ...small,
    metadata: {
      ...small.metadata,
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' },
      ...(options.managedFields === false ? {} : { managedFields: managedFields(index, digest) }),
    },
    spec: fullSpec(app, index, envCount, digest),
    status: fullStatus(app, index, digest),
  };
}

function fullSpec(app: string, index: number, envCount: number, digest: string): JsonObject {
  const env = Array.from({ length: envCount }, (_, number) => ({
    name: `SETTING_${String(number).padStart(4, '0')}`,
    value: `value-${String(number).padStart(4, '0')}-${'abcdefgh'.repeat(8)}`,
  }));
  return {
    volumes: [
      {
        name: tokenVolume(digest),
        projected: {
          sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }],
          defaultMode: 420,
        },
      },
    ],
    containers: [
      {
        name: app,
        image: `registry.example.com/${app}:1.27.3`,
        ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
        env,
        resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
        volumeMounts: [
          {
            name: tokenVolume(digest),
            readOnly: true,
            mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
          },
        ],
        readinessProbe: { httpGet: { path: '/ready', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    nodeName: `node-${index % 100}`,
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: ['not-ready', 'unreachable'].map((state) => ({
      key: `node.kubernetes.io/${state}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  };
}

function fullStatus(app: string, index: number, digest: string): JsonObject {
  const conditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  return {
    phase: 'Running',
    conditions: conditions.map((type, number) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: timeOf(digest, number),
    })),
    hostIP: `10.0.0.${index % 250}`,
    podIP: ip(index),
    podIPs: [{ ip: ip(index) }],
    startTime: timeOf(digest),
    containerStatuses: [
      {
        name: app,
        state: { running: { startedAt: timeOf(digest, 3) } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: `registry.example.com/${app}:1.27.3`,
        imageID: `registry.example.com/${app}@sha256:${'0123456789abcdef'.repeat(4)}`,
        containerID: `containerd://${digest}`,
        started: true,
      },
    ],
    qosClass: 'Burstable',
  };
}

function managedFields(index: number, digest: string): JsonObject[] {
  const conditions = ['ContainersReady', 'Initialized', 'PodReadyToStartContainers', 'Ready'].map((type) => [
    `k:{"type":"${type}"}`,
    leaves('. f:lastProbeTime f:lastTransitionTime f:status f:type'),
  ]);
  return [
    managed('kube-controller-manager', timeOf(digest), {
      'f:metadata': {
        'f:annotations': leaves('. f:prometheus.io/port f:prometheus.io/scrape'),
        'f:generateName': {},
        'f:labels': leaves('. f:app f:pod-template-hash f:tier'),
        'f:ownerReferences': leaves(`. k:{"uid":"${ownerUid(index)}"}`),
      },
      'f:spec': {
        'f:containers': {
          'k:{"name":"app"}': {
            ...leaves('. f:env f:image f:imagePullPolicy f:name'),
            'f:ports': { '.': {}, 'k:{"containerPort":8080,"protocol":"TCP"}': leaves('. f:containerPort') },
            'f:readinessProbe': { '.': {}, 'f:httpGet': leaves('. f:path f:port') },
            'f:resources': { '.': {}, 'f:limits': leaves('f:cpu'), 'f:requests': leaves('f:cpu') },
            'f:terminationMessagePath': {},
          },
        },
        ...leaves('f:dnsPolicy f:enableServiceLinks f:restartPolicy f:schedulerName f:securityContext'),
        'f:terminationGracePeriodSeconds': {},
      },
    }),
    managed(
      'kubelet',
      timeOf(digest, 4),
      {
        'f:status': {
          'f:conditions': Object.fromEntries(conditions) as JsonObject,
          ...leaves('f:containerStatuses f:hostIP f:phase f:podIP'),
          'f:podIPs': { '.': {}, [`k:{"ip":"${ip(index)}"}`]: leaves('. f:ip') },
          'f:startTime': {},
        },
      },
      { subresource: 'status' },
    ),
  ];
}

/** Returns an object with an empty object for each name: `leaves('. f:env')` is `{ '.': {}, 'f:env': {} }`. */
function leaves(names: string): JsonObject {
  return Object.fromEntries(names.split(' ').map((name) => [name, {}]));
}

function managed(manager: string, time: string, fieldsV1: JsonObject, more: JsonObject = {}): JsonObject {
  return { manager, operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1', fieldsV1, ...more };
}
