/** The kinds of objects that a load test writes: their paths, and their content. Pure. */
import type { Random } from '../../../base/clock.ts';
import { resources } from '../../../kube/built-in.ts';
import type { LabelSet } from '../../../kube/label-selector.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import type { ResourceRef } from '../../../kube/resource.ts';
import { REALISTIC_POD, REALISTIC_STATUS } from './realistic-pod.ts';
import type { PodShape } from './realistic-pod.ts';
import type { ObjectGroup, ObjectKind, SizeDistribution } from '../workload/workload.ts';

/** The label of all objects that load tests write. */
export const LABEL = 'app.kubernetes.io/managed-by';
export const LABEL_VALUE = 'kubeloom-loadtest';
/** The label of all objects of a run, with the run's identifier. */
export const RUN_LABEL = 'loadtest.kubeloom.dev/run';

/** The place of a run in the cluster. */
export interface RunPlace {
  /** Eight hexadecimal digits. */
  readonly run: string;
  readonly namespaces: readonly string[];
  /** Fake nodes for pods. */
  readonly nodes: readonly string[];
}

export function resourceOf(kind: ObjectKind, run: string): ResourceRef {
  switch (kind) {
    case 'ConfigMap':
      return resources.core.v1.configMaps;
    case 'Lease':
      return resources.coordination.v1.leases;
    case 'Pod':
      return resources.core.v1.pods;
    case 'Widget':
      // The group is unique to the run, so that the definition can be removed whatever else runs.
      return { group: groupOf(run), version: 'v1', resource: 'widgets', kind, isNamespaced: true };
    default:
      return kind satisfies never;
  }
}

/** Returns the definition of the custom resource. */
export function definitionOf(run: string, annotations: Readonly<Record<string, string>>): object {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: definitionName(run), labels: { [LABEL]: LABEL_VALUE, [RUN_LABEL]: run }, annotations },
    spec: {
      group: groupOf(run),
      scope: 'Namespaced',
      names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
        },
      ],
    },
  };
}

export function definitionName(run: string): string {
  return `widgets.${groupOf(run)}`;
}

function groupOf(run: string): string {
  return `r${run}.loadtest.kubeloom.dev`;
}

/** True for kinds with a status subresource. */
export function hasStatus(kind: ObjectKind): boolean {
  return kind === 'Pod' || kind === 'Widget';
}

/** Object number n of a group. */
export function nameOf(n: number): string {
  return `load-${n}`;
}

/** Returns the number of the object with this name. */
export function numberOf(name: string): number {
  return Number(name.slice('load-'.length));
}

export function namespaceOf(n: number, group: ObjectGroup, place: RunPlace): string {
  return place.namespaces[n % group.namespaces] ?? '';
}

/** Returns the labels of an object: the group's, and those of the run. */
export function labelsOf(n: number, { labels }: ObjectGroup, run: string): LabelSet {
  const own = Object.entries(labels).map(([name, values]) => [name, values[n % values.length] ?? '']);
  return { ...(Object.fromEntries(own) as LabelSet), [LABEL]: LABEL_VALUE, [RUN_LABEL]: run };
}

/** The content of a write. */
export interface Content {
  /** The number of the object. */
  readonly n: number;
  /** Differs between two writes, because a server does not store an update without a change. */
  readonly count: number;
  /** Bytes of padding. */
  readonly bytes: number;
}

/** Returns the body that creates an object. */
export function bodyOf(content: Content, group: ObjectGroup, place: RunPlace): object {
  const { kind } = group;
  const head = { apiVersion: apiVersionOf(resourceOf(kind, place.run)), kind };
  if (kind === 'Pod') return { ...head, ...podOf(content, group, place) };
  const metadata = { name: nameOf(content.n), labels: labelsOf(content.n, group, place.run) };
  return { ...head, metadata, ...changingPart(kind, content) };
}

const PLAIN_POD: PodShape = {
  labels: {},
  annotations: {},
  spec: { containers: [{ name: 'none', image: 'none' }] },
};

function podOf(content: Content, group: ObjectGroup, place: RunPlace): object {
  const { n } = content;
  const { labels, annotations, spec } = group.shape === 'realistic' ? REALISTIC_POD : PLAIN_POD;
  return {
    metadata: {
      name: nameOf(n),
      labels: { ...labels, ...labelsOf(n, group, place.run) },
      annotations: { ...annotations, ...annotationsOf(content) },
    },
    spec: {
      nodeName: place.nodes[n % place.nodes.length],
      ...spec,
      automountServiceAccountToken: false,
      tolerations: [{ operator: 'Exists' }],
    },
  };
}

/** A merge patch, or a whole object if the server updates without a version. */
export function updateOf(
  content: Content,
  change: 'update' | 'status',
  group: ObjectGroup,
  place: RunPlace,
): { readonly verb: 'PUT' | 'PATCH'; readonly body: object } {
  const { kind } = group;
  if (kind === 'ConfigMap') return { verb: 'PUT', body: bodyOf(content, group, place) };
  if (change === 'status' && hasStatus(kind)) {
    const message = String(content.count);
    const status = group.shape === 'realistic' ? { ...REALISTIC_STATUS, message } : { message };
    return { verb: 'PATCH', body: { status } };
  }
  return { verb: 'PATCH', body: changingPart(kind, content) };
}

function changingPart(kind: ObjectKind, content: Content): object {
  const { count } = content;
  const padding = paddingOf(content);
  switch (kind) {
    case 'ConfigMap':
      return { data: { count: String(count), padding } };
    case 'Lease':
      return { spec: { holderIdentity: `x${padding}`, leaseTransitions: count } };
    case 'Widget':
      return { spec: { count, padding } };
    case 'Pod':
      return { metadata: { annotations: annotationsOf(content) } };
    default:
      return kind satisfies never;
  }
}

function annotationsOf(content: Content): Readonly<Record<string, string>> {
  return { count: String(content.count), padding: paddingOf(content) };
}

function paddingOf({ bytes }: Content): string {
  return 'x'.repeat(bytes);
}

const BYTES_MAX = 2 ** 20;
/** The 99th percentile of the normal distribution, in standard deviations. */
const DEVIATIONS_P99 = 2.3263;

export function bytesFrom(size: SizeDistribution, random: Random): number {
  switch (size.distribution) {
    case 'constant':
      return size.bytes;
    case 'uniform':
      return size.bytesMin + Math.floor(random() * (size.bytesMax - size.bytesMin + 1));
    case 'lognormal': {
      const deviation = Math.log(size.bytesP99 / size.bytesP50) / DEVIATIONS_P99;
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      return Math.min(BYTES_MAX, Math.round(size.bytesP50 * Math.exp(normal * deviation)));
    }
    default:
      return size satisfies never;
  }
}
