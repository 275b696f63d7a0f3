/**
 * The two versions of autoscalers: version 2 is stored, and version 1 has a target for the use of CPU in place of metrics. A cluster
 * keeps other metrics, the behavior and the conditions in annotations of version 1; here version 1 lacks them.
 */

import { members, objects } from '../store/causes.ts';
import type { Json, JsonObject, KubeObject } from '../store/json.ts';
import type { KindRules } from './built-in-schema.ts';

const TARGET = 'targetCPUUtilizationPercentage';
const CURRENT = 'currentCPUUtilizationPercentage';
/** The target of an autoscaler that names none. */
const TARGET_DEFAULT = 80;

/** Returns the use of CPU in metrics of the type Resource. */
function cpuOf(metrics: Json | undefined, member: 'current' | 'target'): Json | undefined {
  const found = objects(metrics).find(({ resource }) => members(resource)['name'] === 'cpu');
  return members(members(found?.['resource'])[member])['averageUtilization'];
}

function ifSet(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

function firstVersion(object: KubeObject): KubeObject {
  const { metrics, behavior: _, ...spec } = members(object['spec']);
  const { currentMetrics, conditions: __, ...status } = members(object['status']);
  const target = spec[TARGET] ?? (metrics === undefined ? TARGET_DEFAULT : cpuOf(metrics, 'target'));
  return {
    ...object,
    spec: { ...spec, minReplicas: spec['minReplicas'] ?? 1, ...ifSet(TARGET, target) },
    status: {
      ...status,
      currentReplicas: status['currentReplicas'] ?? 0,
      desiredReplicas: status['desiredReplicas'] ?? 0,
      ...ifSet(CURRENT, status[CURRENT] ?? cpuOf(currentMetrics, 'current')),
    },
  };
}

function secondVersion(object: KubeObject): KubeObject {
  const { [TARGET]: target, ...spec } = members(object['spec']);
  const { [CURRENT]: current, currentReplicas, ...status } = members(object['status']);
  const metric = (value: JsonObject): Json[] => [{ type: 'Resource', resource: { name: 'cpu', ...value } }];
  const wanted = { target: { type: 'Utilization', averageUtilization: target } };
  const measured = { current: { averageUtilization: current } };
  return {
    ...object,
    ...(target === undefined ? {} : { spec: { ...spec, metrics: metric(wanted) } }),
    ...(object['status'] === undefined
      ? {}
      : {
          status: {
            ...status,
            ...(currentReplicas === 0 ? {} : ifSet('currentReplicas', currentReplicas)),
            currentMetrics: current === undefined ? (status['currentMetrics'] ?? null) : metric(measured),
          },
        }),
  };
}

/** Rules of autoscalers by their version. */
export const AUTOSCALERS: readonly (readonly [version: string, rules: KindRules])[] = [
  ['v1', { coerce: firstVersion }],
  ['v2', { coerce: secondVersion }],
];
