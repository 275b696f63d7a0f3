/** The cells of the kinds that run Pods, and of the kinds that scale and protect them. */

import { objects, text } from '../store/causes.ts';
import { memberOf } from '../store/json.ts';
import type { JsonObject, KubeObject } from '../store/json.ts';
import {
  ageAt,
  at,
  containersAt,
  countAt,
  firstOf,
  isCondition,
  labelsAt,
  numberAt,
  ratio,
  selectorAt,
  shown,
  valueAt,
} from './cell.ts';
import type { Cells } from './cell.ts';
import { humanDuration } from './duration.ts';

const IN_TEMPLATE = 'spec.template.spec.containers';

const REPLICAS: Cells = {
  Desired: numberAt('spec.replicas'),
  Current: numberAt('status.replicas'),
  Ready: numberAt('status.readyReplicas'),
  ...containersAt(IN_TEMPLATE),
};

const DAEMON_SET: Cells = {
  Desired: numberAt('status.desiredNumberScheduled'),
  Current: numberAt('status.currentNumberScheduled'),
  Ready: numberAt('status.numberReady'),
  'Up-to-date': numberAt('status.updatedNumberScheduled'),
  Available: numberAt('status.numberAvailable'),
  'Node Selector': labelsAt('spec.template.spec.nodeSelector'),
  ...containersAt(IN_TEMPLATE),
  Selector: selectorAt('spec.selector'),
};

const DEPLOYMENT: Cells = {
  Ready: ratio('status.readyReplicas', 'spec.replicas'),
  'Up-to-date': numberAt('status.updatedReplicas'),
  Available: numberAt('status.availableReplicas'),
  ...containersAt(IN_TEMPLATE),
  Selector: selectorAt('spec.selector', ''),
};

function jobStatus(job: KubeObject): string {
  if (isCondition(job, 'Complete')) return 'Complete';
  if (isCondition(job, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return (
    ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => isCondition(job, type)) ?? 'Running'
  );
}

function jobCompletions(job: KubeObject): string {
  const succeeded = shown(valueAt(job, 'status.succeeded') ?? 0);
  const completions = valueAt(job, 'spec.completions');
  if (completions !== undefined) return `${succeeded}/${shown(completions)}`;
  const parallelism = Number(valueAt(job, 'spec.parallelism') ?? 0);
  return `${succeeded}/1${parallelism > 1 ? ` of ${parallelism}` : ''}`;
}

function jobDuration(job: KubeObject, now: number): string {
  const [start, end] = ['startTime', 'completionTime'].map((name) => text(valueAt(job, `status.${name}`)));
  if (start === undefined || start === '') return '';
  return humanDuration((end === undefined || end === '' ? now : Date.parse(end)) - Date.parse(start));
}

const JOB: Cells = {
  Status: jobStatus,
  Completions: jobCompletions,
  Duration: jobDuration,
  ...containersAt(IN_TEMPLATE),
  Selector: selectorAt('spec.selector'),
};

const CRON_JOB: Cells = {
  Schedule: at('spec.schedule'),
  Timezone: at('spec.timeZone', '<none>'),
  Suspend: (job) => (valueAt(job, 'spec.suspend') === true ? 'True' : 'False'),
  Active: countAt('status.active'),
  'Last Schedule': ageAt('status.lastScheduleTime', '<none>'),
  ...containersAt('spec.jobTemplate.spec.template.spec.containers'),
  Selector: selectorAt('spec.jobTemplate.spec.selector'),
};

/** The member of a metric for each type of metric. */
const METRICS: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};

/** Returns `cpu: 20%/80%` for a metric and its current value. */
function metricText(spec: JsonObject, status: JsonObject | undefined): string {
  const member = METRICS[text(spec['type'])];
  if (member === undefined) return '<unknown type>';
  const [metric, current] = [memberOf(spec, member), memberOf(memberOf(status, member), 'current')];
  const target = memberOf(metric, 'target');
  const isResource = spec['type'] === 'Resource' || spec['type'] === 'ContainerResource';
  const name = isResource ? `${text(memberOf(metric, 'name'))}: ` : '';
  const average = memberOf(target, 'averageValue');
  const value = (key: string, absent: string, unit = ''): string => {
    const [now, wanted] = [memberOf(current, key), memberOf(target, key)];
    return `${now === undefined ? '<unknown>' : shown(now) + unit}/${wanted === undefined ? absent : shown(wanted) + unit}`;
  };
  if (isResource && average === undefined) return `${name}${value('averageUtilization', '<auto>', '%')}`;
  if (average === undefined) return value('value', '0');
  return `${name}${value('averageValue', '')}${isResource || spec['type'] === 'Pods' ? '' : ' (avg)'}`;
}

function metricsText(scaler: KubeObject): string {
  const statuses = objects(valueAt(scaler, 'status.currentMetrics'));
  const metrics = objects(valueAt(scaler, 'spec.metrics')).map((spec, index) =>
    metricText(spec, statuses[index]),
  );
  return metrics.length === 0 ? '<none>' : firstOf(metrics, 2, ', ');
}

const AUTOSCALER: Cells = {
  Reference: (scaler) => {
    const target = valueAt(scaler, 'spec.scaleTargetRef');
    return `${text(memberOf(target, 'kind'))}/${text(memberOf(target, 'name'))}`;
  },
  Targets: metricsText,
  MinPods: (scaler) => shown(valueAt(scaler, 'spec.minReplicas')) || '<unset>',
  MaxPods: numberAt('spec.maxReplicas'),
  Replicas: numberAt('status.currentReplicas'),
};

const DISRUPTION_BUDGET: Cells = {
  'Min Available': (budget) => shown(valueAt(budget, 'spec.minAvailable')) || 'N/A',
  'Max Unavailable': (budget) => shown(valueAt(budget, 'spec.maxUnavailable')) || 'N/A',
  'Allowed Disruptions': numberAt('status.disruptionsAllowed'),
};

function controllerOf({ metadata }: KubeObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return '<none>';
  const [group = ''] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : [];
  return `${owner.kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${owner.name}`;
}

export const WORKLOADS: Readonly<Record<string, Cells>> = {
  'controllerrevisions.apps': { Controller: controllerOf, Revision: numberAt('revision') },
  'cronjobs.batch': CRON_JOB,
  'daemonsets.apps': DAEMON_SET,
  'deployments.apps': DEPLOYMENT,
  'horizontalpodautoscalers.autoscaling': AUTOSCALER,
  'jobs.batch': JOB,
  'poddisruptionbudgets.policy': DISRUPTION_BUDGET,
  podtemplates: {
    ...containersAt('template.spec.containers'),
    'Pod Labels': labelsAt('template.metadata.labels'),
  },
  'replicasets.apps': { ...REPLICAS, Selector: selectorAt('spec.selector') },
  replicationcontrollers: { ...REPLICAS, Selector: labelsAt('spec.selector') },
  'scales.autoscaling': { Desired: numberAt('spec.replicas'), Available: numberAt('status.replicas') },
  'statefulsets.apps': {
    Ready: ratio('status.readyReplicas', 'spec.replicas'),
    ...containersAt(IN_TEMPLATE),
  },
};
